//! The API of sysbench 0.5.

use crate::running::{canned, check, run};
use dyno_model::target::Engine;
use std::sync::Arc;

#[test]
fn globals_of_the_old_api_exist() {
    check(
        "function event()
          for name in ('connect disconnect query bulk_insert_init bulk_insert_next bulk_insert_done prepare bind_param bind_result execute store_results free_results close'):gmatch('%S+') do
            same(type(_G['db_' .. name]), 'function') same(sysbench.db[name], _G['db_' .. name])
          end
          same(DB_ERROR_NONE, 0) same(DB_ERROR_RESTART_TRANSACTION, 1) same(DB_ERROR_FAILED, 2) same(mysql_table_engine, 'innodb')
          local n = sb_rand(1, 5) assert(n >= 1 and n <= 5) n = sb_rand('2', '2') same(n, 2)
          assert(sb_rand_uniform(1, 3) and sb_rand_gaussian(1, 3) and sb_rand_special(1, 3)) assert(sb_rand_str('##'):find('^%d%d$'))
          local seen = {} for i = 1, 5 do local u = sb_rand_uniq(1, 1000000) assert(u >= 1 and u <= 1000000) end
          local r = sb_rnd() assert(r >= 0 and r % 1 == 0)
          same(no_such_global, nil)
        end",
    );
}

#[test]
fn a_connection_is_opened_on_first_use() {
    let environment = canned(
        "function event()
          fails('Uninitialized database connection', db_bulk_insert_next, '(1)')
          same(select('#', db_disconnect()), 0)
          same(select('#', db_query('SELECT 1')), 0) same(db_driver, 'mysql')
          local values = { 1, 'a', 1.5 }
          local s = db_prepare('SELECT ?, ?, ?') db_bind_param(s, values)
          local rs = db_execute(s) db_store_results(rs) same(rs.nrows, 2) db_free_results(rs)
          values[1] = 2 db_execute(s) db_close(s)
          fails('the statement is closed', db_execute, s)
          db_bulk_insert_init('INSERT INTO t VALUES') db_bulk_insert_next('(1)') db_bulk_insert_done()
          db_disconnect() db_disconnect()
        end",
        "rows=2,columns=3,value=5",
    );
    let (done, reported) = run(&Arc::new(environment), 1, 0);
    assert_eq!(done, Ok(()));
    assert_eq!(reported.borrow().statements.len(), 4);
}

#[test]
fn errors_are_reported_or_restart_the_event() {
    let script = "function event() db_query('SELECT 1') end";
    let (done, _) = run(&Arc::new(canned(script, "fail=deadlock:1,seed=2")), 1, 0);
    assert_eq!(done.unwrap_err().message, "test.lua:2: db_query() failed");

    let mut environment = canned(script, "fail=deadlock:1,seed=3");
    environment.databases.access_mut(Engine::Mysql).ignored.all = true;
    let (done, reported) = run(&Arc::new(environment), 1, 4);
    assert_eq!(done, Ok(()));
    assert_eq!((reported.borrow().restarted, reported.borrow().failed), (4, 5));
}
