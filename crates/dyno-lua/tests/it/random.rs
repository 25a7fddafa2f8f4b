//! Random numbers and texts in Lua.

use crate::running::{check, dry, environment, run};
use dyno_lua::{Role, State};
use std::sync::Arc;

#[test]
fn numbers_stay_in_their_range() {
    check(
        "function event()
          for _, name in ipairs { 'default', 'uniform', 'gaussian', 'special', 'pareto', 'zipfian' } do
            for i = 1, 1000 do
              local n = sysbench.rand[name](5, 9)
              if n < 5 or n > 9 or n % 1 ~= 0 then error(name .. ' drew ' .. n) end
            end
            same(sysbench.rand[name](5.9, 5.2), 5) same(sysbench.rand[name]('3', '3'), 3)
            assert(sysbench.rand[name](9, 5) >= 0)
            fails(\"bad argument #2 to '\" .. name .. \"' (number expected, got nil)\", sysbench.rand[name], 1)
            fails('bad argument #1', sysbench.rand[name], {}, 1)
          end
          same(type(sysbench.rand.uniform_uint64()), 'cdata')
          local d = sysbench.rand.uniform_double() assert(d >= 0 and d < 1)
          assert(sysbench.rand.unique() ~= sysbench.rand.unique())
        end",
    );
}

#[test]
fn texts_follow_their_pattern() {
    check(
        "function event()
          assert(sysbench.rand.string('##-@@x'):find('^%d%d%-%l%lx$')) same(sysbench.rand.string(''), '')
          fails('string expected, got nil', sysbench.rand.string)
          local s = sysbench.rand.varstring(3, 5) assert(#s >= 3 and #s <= 5)
        end",
    );
}

#[test]
fn a_seed_determines_what_each_thread_draws() {
    let draw = |seed, thread| {
        let mut environment = environment(
            "function event() error(sysbench.rand.uniform(1, 1e9) .. sysbench.rand.string('####')) end",
        );
        environment.seed = seed;
        let state = State::load(&Arc::new(environment), Role::Thread(thread)).unwrap();
        state.call("event", None).unwrap_err().message
    };
    assert_eq!(draw(1, 0), draw(1, 0));
    assert_ne!(draw(1, 0), draw(1, 1));
    assert_ne!(draw(1, 0), draw(2, 0));
}

#[test]
fn hot_loops_of_random_numbers_are_compiled() {
    // A call that cannot be compiled ends the trace, and no loop remains in it.
    let script = "local traces = 0
        require('jit.util')
        function event()
          for i = 1, 300 do sysbench.rand.default(1, 100) end
          if require('jit.util').traceinfo(1) then traces = 1 end
        end
        function thread_done() same(traces, 1) end";
    let (done, _) = run(&dry(script), 3, 0);
    assert_eq!(done, Ok(()));
}
