use dyno_lua::*;
use std::sync::{Arc,Barrier};
fn rss()->u64{ let s=std::fs::read_to_string("/proc/self/statm").unwrap(); s.split(' ').nth(1).unwrap().parse::<u64>().unwrap()*4 }
fn main(){
 let script=std::env::args().nth(1).unwrap();
 let n=200; let b=Arc::new(Barrier::new(n+1));
 let mut env=Environment::new(ScriptSource::File(script.into())); env.command=Some("run".into());
 let env=Arc::new(env);
 drop(State::load(&env, Role::Main).unwrap());
 let a=rss();
 let ts:Vec<_>=(0..n).map(|i|{let b=b.clone(); let env=env.clone(); std::thread::Builder::new().stack_size(512<<10).spawn(move||{ let l=State::load(&env, Role::Thread(i as u32)).unwrap(); b.wait(); b.wait(); drop(l);}).unwrap()}).collect();
 b.wait(); println!("{} KB/thread",(rss()-a)/n as u64); b.wait(); for t in ts{t.join().unwrap();}
}
