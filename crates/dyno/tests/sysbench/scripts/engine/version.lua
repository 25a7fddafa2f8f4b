-- Scripts see the version of the interface.
-- servers: none
-- $

print(sysbench.version, sysbench.version_string)
print(sysbench.version:match("^(%d+)%.(%d+)"))
