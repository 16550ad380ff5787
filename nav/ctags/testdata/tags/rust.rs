pub mod shapes {
    pub struct Circle { pub r: f64 }
    pub trait Area { fn area(&self) -> f64; }
    impl Area for Circle {
        fn area(&self) -> f64 {
            self.r * self.r
        }
    }
    pub enum Color { Red, Green(u8) }
}
macro_rules! twice { ($x:expr) => { $x + $x } }
static COUNT: u32 = 1;
pub fn generic<T: Clone>(t: &T) -> T {
    t.clone()
}
