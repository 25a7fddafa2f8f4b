//! LuaJIT states that run sysbench scripts.
