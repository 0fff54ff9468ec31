// (func (export "f") (result i32) i32.const 42)
const bytes = Buffer.from('0061736d010000000105016000017f03020100070501016600000a06010400412a0b', 'hex');
console.log(new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports.f());
