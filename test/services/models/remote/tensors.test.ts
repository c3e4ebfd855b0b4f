/** Tests instances encoded as tensors of the Open Inference Protocol, and result tensors decoded to values. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/kernel/json.ts'
import { rowsOfOutputs } from '../../../../src/services/models/remote/remote-driver.ts'
import { readInputs, tensorsOf } from '../../../../src/services/models/remote/tensors.ts'

const input = (name: string, datatype: string, ...shape: number[]) => ({ name, datatype, shape: [-1, ...shape] })
const X = input('x', 'FP32', 2)
const HEAT = input('heat', 'FP32', 1)
const COUNT = input('count', 'INT64')
const read = (json: string) => JSON.parse(json) as readonly Json[]

describe('instances', () => {
  it.each<[string, readonly unknown[], instances: string, ...tensors: string[]]>([
    ['lists of numbers', [], '[[1,2],[3,null]]', 'input-0 [2,2] FP64 [1,2,3,null]'],
    ['lists of lists', [], '[[[1],[2]]]', 'input-0 [1,2,1] FP64 [1,2]'],
    ['bare numbers', [], '[1,2]', 'input-0 [2] FP64 [1,2]'],
    ['texts', [], '["a","b"]', 'input-0 [2] BYTES ["a","b"]'],
    ['truth values', [], '[[true,false]]', 'input-0 [1,2] BOOL [true,false]'],
    ['truth values among numbers', [], '[[true,2]]', 'input-0 [1,2] FP64 [1,2]'],
    ['named features', [], '[{"a":1,"b":"x"}]', 'a [1,1] FP64 [1]', 'b [1,1] BYTES ["x"]'],
    ['the only input', [X], '[[1,2]]', 'x [1,2] FP32 [1,2]'],
    ['the only input by its name', [X], '[{"x":[1,2]}]', 'x [1,2] FP32 [1,2]'],
    ['a value where a list of one is wanted', [HEAT], '[1,[2]]', 'heat [2,1] FP32 [1,2]'],
    ['several inputs', [HEAT, COUNT], '[{"count":3,"heat":1.5}]', 'heat [1,1] FP32 [1.5]', 'count [1] INT64 [3]'],
    ['any length', [input('x', 'FP64', -1)], '[[1,2,3]]', 'x [1,3] FP64 [1,2,3]'],
  ])('become tensors: %s', (_title, inputs, instances, ...tensors) => {
    const found = tensorsOf(read(instances), readInputs(inputs))
    const shown = found.map(({ name, shape, datatype, data }) =>
      [name, JSON.stringify(shape), datatype, JSON.stringify(data)].join(' '),
    )
    expect(shown).toEqual(tensors)
  })

  it.each<[string, readonly unknown[], instances: string, RegExp]>([
    ['too few values', [X], '[[1,2],[1]]', /\/instances\/1 <- has 1 values \(send 2\)/],
    ['lists of several lengths', [], '[[1,2],[1,2,3]]', /\/instances\/1 <- has 3 values \(send 2\)/],
    ['no list', [], '[[1,2],7]', /\/instances\/1 <- is 7 \(send a list of 2 values\)/],
    ['too deep a list', [X], '[[[1],[2]]]', /\/instances\/0\/0 <- is \[1\] \(send a number or text\)/],
    ['a text for a number', [], '[[1,2],[1,"x"]]', /\/instances\/1 <- has "x" where FP64 is required/],
    ['a fraction', [COUNT], '[1.5]', /has 1\.5 where INT64 is required \(send a whole number\)/],
    ['nothing for a whole number', [COUNT], '[null]', /has null where INT64 is required/],
    ['a number for a text', [input('t', 'BYTES')], '[1]', /has 1 where BYTES is required/],
    ['a number for a truth value', [input('t', 'BOOL')], '[1]', /has 1 where BOOL is required/],
    ['a list for several', [HEAT, COUNT], '[[1,2]]', /\/instances\/0 <- is \[1,2\] \(send an object of heat, count\)/],
    ['an input too few', [HEAT, COUNT], '[{"heat":1}]', /\/instances\/0 <- has no count \(send an object of heat/],
    ['an unknown input', [HEAT], '[{"heat":1,"depth":2}]', /\/instances\/0\/depth <- is not a feature .*has heat\)/],
    ['names that differ', [], '[{"a":1},{"b":1}]', /\/instances\/1\/b <- is not a feat.*\/instances\/1 <- has no a/],
    ['a list among objects', [], '[{"a":1},[1]]', /\/instances\/1 <- is \[1\] \(send an object of a\)/],
    ['an object in a feature', [], '[{"a":{"b64":"eA=="}}]', /\/instances\/0\/a <- is \{"b64":"eA=="\}/],
  ])('are rejected: %s', (_title, inputs, instances, message) => {
    expect(() => tensorsOf(read(instances), readInputs(inputs))).toThrow(message)
  })

  it('take the name and datatype of inputs that have both', () => {
    const told = [{ name: 1 }, 'x', { name: 'a', datatype: 'FP32' }, X]
    expect(readInputs(told)).toEqual([{ name: 'x', datatype: 'FP32', shape: [2] }])
    expect(readInputs('x')).toEqual([])
  })
})

const output = (shape: unknown, data: readonly unknown[], more: object = {}) => {
  return { name: 'y', datatype: 'FP64', shape, data, ...more }
}
const np = { parameters: { content_type: 'np' } }
const rowsOf = (outputs: unknown, count = 2) => rowsOfOutputs(outputs, count, (why) => new Error(why))
const ONE = output([2], [1, 2])

describe('outputs', () => {
  it.each<[string, readonly unknown[], rows: string]>([
    ['single values', [ONE], '[1,2]'],
    ['rows', [output([2, 2], [1, 2, 3, 4])], '[[1,2],[3,4]]'],
    ['rows that are nested', [output([2, 2], read('[[1,2],[3,4]]'))], '[[1,2],[3,4]]'],
    ['rows of rows', [output([2, 1, 2], [1, 2, 3, 4])], '[[[1,2]],[[3,4]]]'],
    ['lists of one', [output([2, 1], [1, 2])], '[[1],[2]]'],
    ['lists of one, which MLServer has for single values', [output([2, 1], [1, 2], np)], '[1,2]'],
    ['texts', [output([2], ['a', 'b'], { datatype: 'BYTES' })], '["a","b"]'],
    [
      'several',
      [ONE, output([2], [true, false], { name: 'is', datatype: 'BOOL' })],
      '[{"y":1,"is":true},{"y":2,"is":false}]',
    ],
  ])('become one value per instance: %s', (_title, outputs, rows) => {
    expect(rowsOf(outputs).rows).toEqual(read(rows))
  })

  it.each<[string, unknown, RegExp]>([
    ['no list', 7, /it has no outputs/],
    ['none', [], /it has no outputs/],
    ['too many', Array.from({ length: 101 }, () => ONE), /it has 101 outputs/],
    ['one without a name', [output([2], [1, 2], { name: 1 })], /missing or not unique/],
    ['two of a name', [ONE, ONE], /missing or not unique/],
    ['no shape', [output(undefined, [1, 2])], /output y has an invalid shape/],
    ['an invalid shape', [output([2, -1], [1, 2])], /output y has an invalid shape/],
    ['another number of rows', [output([3], [1, 2, 3])], /output y has 3 rows for 2 instances/],
    ['too few values', [output([2, 2], [1, 2, 3])], /output y has 3 values for the shape \[2, 2\]/],
    ['nothing for a number', [output([2, 2], [1, 2, 3, null])], /has null for instance 1, which is not a number/],
    ['a text for a number', [output([2], [1, 'NaN'])], /has "NaN" for instance 1, which is not a number/],
    ['an unknown type', [output([2], [1, 2], { datatype: 'COMPLEX' })], /has the unknown type COMPLEX/],
  ])('are rejected: %s', (_title, outputs, problem) => {
    expect(() => rowsOf(outputs)).toThrow(problem)
  })

  it('may have names of prototype members', () => {
    const [row] = rowsOf([output([1], [1], { name: '__proto__' }), output([1], [2])], 1).rows
    expect(Object.keys(row ?? {})).toEqual(['__proto__', 'y'])
    expect(Object.getPrototypeOf(row)).toBe(Object.prototype)
  })
})
