-- Drivers by name, and the default one.
-- $ --events=1 run

function event()
   print(sysbench.sql.driver():name() == sysbench.opt.db_driver, sysbench.sql.driver(sysbench.opt.db_driver):name() == sysbench.opt.db_driver)
   print(pcall(sysbench.sql.driver, "oracle"))
end
