use super::*;
use crate::watch::Watch;
macro_rules! stub {
    ($t:ty) => {
        impl<T: Real> Arithmetic<T> for $t {
            fn unary(&self, _: Unary, _: &Array<T>, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
                todo!()
            }
            fn binary(
                &self,
                _: Binary,
                _: [Operand<T>; 2],
                _: &Expansion,
                _: &mut Array<T>,
                _: &Watch,
            ) -> Result<(), Error> {
                todo!()
            }
            fn reduce(
                &self,
                _: Reduction,
                _: &Array<T>,
                _: Option<&Array<T>>,
                _: [usize; 3],
                _: &mut [T],
                _: &Watch,
            ) -> Result<(), Error> {
                todo!()
            }
            fn fill(&self, _: T, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
                todo!()
            }
            fn pick(&self, _: &Array<T>, _: &Places, _: Target<T>, _: &Watch) -> Result<(), Error> {
                todo!()
            }
            fn put(&self, _: Source<T>, _: &Places, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
                todo!()
            }
            fn convert(&self, _: &Array<T::Other>, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
                todo!()
            }
        }
    };
}
stub!(Reference);
stub!(crate::cpu::Cpu);
stub!(crate::cuda::Cuda);
