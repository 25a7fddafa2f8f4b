-- An error at the top level.
-- servers: none
-- $ run
-- $ prepare
-- $ 
-- $ --threads=2 run

print("before")
error("thrown at the top level")
