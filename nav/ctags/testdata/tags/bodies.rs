pub fn rrun(x: i32) -> i32 {
    let s = "}";
    let c = '{';
    rgo(x)
}
fn rgo(x: i32) -> i32 { x }
fn lifetimes<'a>(s: &'a str) -> &'a str {
    /* { /* nested */ { */
    let raw = r#"} " }"#; // }
    let q = '\'';
    s
}
struct Unit;
struct Pair(u8, u8);
trait Area {
    fn area(&self) -> f64;
}
