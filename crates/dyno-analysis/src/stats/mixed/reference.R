# Makes reference.csv: what R's lme4 and lmerTest say of three data sets. Not needed to run the test.
#   Debian: apt-get install --no-install-recommends r-cran-lme4 r-cran-lmertest
#   Rscript reference.R > reference.csv
# Lines: `row,SET,value,cell,block,plot`; `variance,SET,block,plot,residual`; `contrast,SET,weights,estimate,error,degrees,p`;
# `joint,SET,weights,f,numerator,denominator,p`. Weights of cells are separated by blanks, contrasts by semicolons.
suppressPackageStartupMessages(library(lmerTest))

number <- function(x) formatC(x, digits = 10, format = "g", width = 1)

report <- function(name, data, contrasts, joint) {
  data$cell <- factor(data$cell)
  data$block <- factor(data$block)
  data$plot <- factor(data$plot)
  fit <- suppressMessages(lmer(value ~ 0 + cell + (1 | block) + (1 | plot), data,
    control = lmerControl(optCtrl = list(ftol_abs = 1e-14, xtol_abs = 1e-12))))
  line <- function(...) cat(paste(..., sep = ","), "\n", sep = "")
  for (i in seq_len(nrow(data))) with(data[i, ], line("row", name, number(value), as.integer(cell) - 1, as.integer(block) - 1,
    as.integer(plot) - 1))
  components <- as.data.frame(VarCorr(fit))
  of <- function(group) components$vcov[components$grp == group]
  line("variance", name, number(of("block")), number(of("plot")), number(of("Residual")))
  for (i in seq_len(nrow(contrasts))) {
    it <- contest(fit, contrasts[i, ], joint = FALSE)
    line("contrast", name, paste(number(contrasts[i, ]), collapse = " "), number(it$Estimate), number(it$`Std. Error`), number(it$df),
      number(it$`Pr(>|t|)`))
  }
  it <- contest(fit, joint, joint = TRUE)
  weights <- paste(apply(joint, 1, function(w) paste(number(w), collapse = " ")), collapse = ";")
  line("joint", name, weights, number(it$`F value`), number(it$NumDF), number(it$DenDF), number(it$`Pr(>F)`))
}

# F. Yates, "Complex Experiments", J. R. Statist. Soc. Suppl. 2 (1935): oats, six blocks, three varieties in whole plots, four amounts of
# nitrogen inside. Cell = 4 * variety + nitrogen (Golden Rain, Marvellous, Victory; 0, 0.2, 0.4, 0.6 cwt).
yields <- c(111, 130, 157, 174, 117, 114, 161, 141, 105, 140, 118, 156, # block I: Victory, Golden Rain, Marvellous
  61, 91, 97, 100, 70, 108, 126, 149, 96, 124, 121, 144,
  68, 64, 112, 86, 60, 102, 89, 96, 89, 129, 132, 124,
  74, 89, 81, 122, 64, 103, 132, 133, 70, 89, 104, 117,
  62, 90, 100, 116, 80, 82, 94, 126, 63, 70, 109, 99,
  53, 74, 118, 113, 89, 82, 86, 104, 97, 99, 119, 121)
variety <- rep(c(2, 0, 1), each = 4, times = 6)
oats <- data.frame(value = log(yields), cell = 4 * variety + rep(0:3, 18), block = rep(0:5, each = 12),
  plot = rep(0:17, each = 4))
of_variety <- function(v) as.numeric((0:11) %/% 4 == v) / 4
of_nitrogen <- function(n) as.numeric((0:11) %% 4 == n) / 3
simple <- as.numeric(0:11 == 7) - as.numeric(0:11 == 3)
contrasts <- rbind(of_variety(1) - of_variety(0), of_variety(2) - of_variety(0), of_nitrogen(3) - of_nitrogen(0), simple)
interaction <- t(sapply(0:2, function(n) {
  at <- function(v, n) as.numeric(0:11 == 4 * v + n)
  (at(1, n) - at(0, n)) - (at(1, 3) - at(0, 3))
}))
report("balanced", oats, contrasts, interaction)

# The same with trials that are missing, a whole plot less one among them.
report("missing", oats[-c(2, 7, 18, 21, 22, 23, 40, 61), ], contrasts, interaction)

# Three blocks of two starts with three trials each, in which starts scatter less than trials: the variance of starts is at its bound of 0.
set.seed(20)
repeat {
  small <- expand.grid(inside = 0:2, setting = 0:1, block = 0:2)
  small <- transform(small, cell = 3 * setting + inside, plot = 2 * block + setting)
  small$value <- 7 + 0.1 * small$setting - 0.05 * small$inside + rnorm(3, sd = 0.03)[small$block + 1] + rnorm(18, sd = 0.02)
  fit <- suppressMessages(lmer(value ~ 0 + factor(cell) + (1 | block) + (1 | plot), small))
  if (abs(getME(fit, "theta")[["plot.(Intercept)"]]) < 1e-6 && getME(fit, "theta")[["block.(Intercept)"]] > 0.1) break
}
settings <- rbind(c(-1, -1, -1, 1, 1, 1) / 3, c(-1, 0, 1, -1, 0, 1) / 2, c(-1, 0, 0, 1, 0, 0))
report("bound", small, settings, rbind(c(-1, 1, 0, 1, -1, 0), c(-1, 0, 1, 1, 0, -1)))
