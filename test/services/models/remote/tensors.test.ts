/** Instances as tensors of the Open Inference Protocol, and tensors of answers as values. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/kernel/json.ts'
import { rowsOfOutputs } from '../../../../src/services/models/remote/read-outputs.ts'
import { readInputs, tensorsOf } from '../../../../src/services/models/remote/tensors.ts'

const input = (name: string, datatype: string, ...shape: number[]) => ({ name, datatype, shape: [-1, ...shape] })
const X = input('x', 'FP32', 2)
const HEAT = input('heat', 'FP32', 1)
const COUNT = input('count', 'INT64')

describe('instances', () => {
  it.each<[string, readonly unknown[], readonly Json[], unknown]>([
    [
      'lists of numbers',
      [],
      [
        [1, 2],
        [3, null],
      ],
      [['input-0', [2, 2], 'FP64', [1, 2, 3, null]]],
    ],
    ['lists of lists', [], [[[1], [2]]], [['input-0', [1, 2, 1], 'FP64', [1, 2]]]],
    ['bare numbers', [], [1, 2], [['input-0', [2], 'FP64', [1, 2]]]],
    ['texts', [], ['a', 'b'], [['input-0', [2], 'BYTES', ['a', 'b']]]],
    ['truth values', [], [[true, false]], [['input-0', [1, 2], 'BOOL', [true, false]]]],
    ['truth values among numbers', [], [[true, 2]], [['input-0', [1, 2], 'FP64', [1, 2]]]],
    [
      'named features',
      [],
      [{ a: 1, b: 'x' }],
      [
        ['a', [1, 1], 'FP64', [1]],
        ['b', [1, 1], 'BYTES', ['x']],
      ],
    ],
    ['the only input', [X], [[1, 2]], [['x', [1, 2], 'FP32', [1, 2]]]],
    ['the only input by its name', [X], [{ x: [1, 2] }], [['x', [1, 2], 'FP32', [1, 2]]]],
    ['a value where a list of one is wanted', [HEAT], [1, [2]], [['heat', [2, 1], 'FP32', [1, 2]]]],
    [
      'several inputs',
      [HEAT, COUNT],
      [{ count: 3, heat: 1.5 }],
      [
        ['heat', [1, 1], 'FP32', [1.5]],
        ['count', [1], 'INT64', [3]],
      ],
    ],
    ['any length', [input('x', 'FP64', -1)], [[1, 2, 3]], [['x', [1, 3], 'FP64', [1, 2, 3]]]],
  ])('are tensors: %s', (_title, inputs, instances, tensors) => {
    const found = tensorsOf(instances, readInputs(inputs))
    expect(found.map(({ name, shape, datatype, data }) => [name, shape, datatype, data])).toEqual(tensors)
  })

  it.each<[string, readonly unknown[], readonly Json[], RegExp]>([
    ['too few values', [X], [[1, 2], [1]], /\/instances\/1 <- has 1 values \(send 2\)/],
    [
      'lists of several lengths',
      [],
      [
        [1, 2],
        [1, 2, 3],
      ],
      /\/instances\/1 <- has 3 values \(send 2\)/,
    ],
    ['no list', [], [[1, 2], 7], /\/instances\/1 <- is 7 \(send a list of 2 values\)/],
    ['too deep a list', [X], [[[1], [2]]], /\/instances\/0\/0 <- is \[1\] \(send a number or text\)/],
    [
      'a text for a number',
      [],
      [
        [1, 2],
        [1, 'x'],
      ],
      /\/instances\/1 <- has "x" where FP64 is wanted/,
    ],
    ['a fraction for a whole number', [COUNT], [1.5], /has 1\.5 where INT64 is wanted \(send a whole number\)/],
    ['nothing for a whole number', [COUNT], [null], /has null where INT64 is wanted/],
    ['a number for a text', [input('t', 'BYTES')], [1], /has 1 where BYTES is wanted/],
    ['a number for a truth value', [input('t', 'BOOL')], [1], /has 1 where BOOL is wanted/],
    [
      'a list for several inputs',
      [HEAT, COUNT],
      [[1, 2]],
      /\/instances\/0 <- is \[1,2\] \(send an object of heat, count\)/,
    ],
    [
      'an input too few',
      [HEAT, COUNT],
      [{ heat: 1 }],
      /\/instances\/0 <- has no count \(send an object of heat, count\)/,
    ],
    [
      'an input that is none',
      [HEAT],
      [{ heat: 1, depth: 2 }],
      /\/instances\/0\/depth <- is no feature of the model \(it has heat\)/,
    ],
    ['names that differ', [], [{ a: 1 }, { b: 1 }], /\/instances\/1\/b <- is no feature.*\/instances\/1 <- has no a/],
    ['a list among objects', [], [{ a: 1 }, [1]], /\/instances\/1 <- is \[1\] \(send an object of a\)/],
    ['an object in a feature', [], [{ a: { b64: 'eA==' } }], /\/instances\/0\/a <- is \{"b64":"eA=="\}/],
  ])('are refused: %s', (_title, inputs, instances, message) => {
    expect(() => tensorsOf(instances, readInputs(inputs))).toThrow(message)
  })

  it('are sent to inputs that can be read', () => {
    expect(readInputs([{ name: 1 }, 'x', { name: 'a', datatype: 'FP32' }, X])).toEqual([
      { name: 'x', datatype: 'FP32', shape: [2] },
    ])
    expect(readInputs('x')).toEqual([])
  })
})

const output = (shape: unknown, data: unknown, more: object = {}) => ({
  name: 'y',
  datatype: 'FP64',
  shape,
  data,
  ...more,
})
const np = { parameters: { content_type: 'np' } }

describe('outputs', () => {
  it.each<[string, readonly unknown[], readonly Json[]]>([
    ['single values', [output([2], [1, 2])], [1, 2]],
    [
      'rows',
      [output([2, 2], [1, 2, 3, 4])],
      [
        [1, 2],
        [3, 4],
      ],
    ],
    [
      'rows that are nested',
      [
        output(
          [2, 2],
          [
            [1, 2],
            [3, 4],
          ],
        ),
      ],
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ['rows of rows', [output([2, 1, 2], [1, 2, 3, 4])], [[[1, 2]], [[3, 4]]]],
    ['lists of one', [output([2, 1], [1, 2])], [[1], [2]]],
    ['lists of one, which MLServer has for single values', [output([2, 1], [1, 2], np)], [1, 2]],
    ['texts', [output([2], ['a', 'b'], { datatype: 'BYTES' })], ['a', 'b']],
    [
      'several',
      [output([2], [1, 2]), output([2], [true, false], { name: 'is', datatype: 'BOOL' })],
      [
        { y: 1, is: true },
        { y: 2, is: false },
      ],
    ],
  ])('are a value for each instance: %s', (_title, outputs, rows) => {
    expect(rowsOfOutputs(outputs, 2)).toMatchObject({ rows })
    expect(rowsOfOutputs(outputs, 2).problem).toBeUndefined()
  })

  it.each<[string, unknown, RegExp]>([
    ['no list', 7, /it has no outputs/],
    ['none', [], /it has no outputs/],
    ['too many', Array.from({ length: 101 }, () => output([2], [1, 2])), /it has 101 outputs/],
    ['one without a name', [output([2], [1, 2], { name: 1 })], /has no name of its own/],
    ['two of a name', [output([2], [1, 2]), output([2], [1, 2])], /has no name of its own/],
    ['no shape', [output(undefined, [1, 2])], /output y has no shape/],
    ['a shape that is none', [output([2, -1], [1, 2])], /output y has no shape/],
    ['another number of rows', [output([3], [1, 2, 3])], /output y has 3 rows for 2 instances/],
    ['too few values', [output([2, 2], [1, 2, 3])], /output y has 3 values for the shape \[2, 2\]/],
    [
      'nothing where a number is wanted',
      [output([2, 2], [1, 2, 3, null])],
      /has null for instance 1, which is not a number/,
    ],
    ['a text where a number is wanted', [output([2], [1, 'NaN'])], /has "NaN" for instance 1, which is not a number/],
    ['a type that nobody knows', [output([2], [1, 2], { datatype: 'COMPLEX' })], /is of COMPLEX, which nobody knows/],
  ])('are refused: %s', (_title, outputs, problem) => {
    expect(rowsOfOutputs(outputs, 2).problem).toMatch(problem)
  })

  it('may have names that reach a prototype', () => {
    const told = JSON.parse(
      '[{"name":"__proto__","shape":[1],"datatype":"FP64","data":[1]},{"name":"y","shape":[1],"datatype":"FP64","data":[2]}]',
    ) as unknown
    const [row] = rowsOfOutputs(told, 1).rows
    expect(Object.keys(row ?? {})).toEqual(['__proto__', 'y'])
    expect(Object.getPrototypeOf(row)).toBe(Object.prototype)
  })
})
