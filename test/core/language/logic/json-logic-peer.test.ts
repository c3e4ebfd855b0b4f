import fc from 'fast-check'
import jsonLogic, { type RulesLogic } from 'json-logic-js'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import { isEqual } from '../../../../src/kernel/values.ts'
import { run, sample } from './sample.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

// equality of different kinds, where the library follows JavaScript
jsonLogic.add_operation('==', (a: unknown, b: unknown) => isSame(a, b))
jsonLogic.add_operation('!=', (a: unknown, b: unknown) => !isSame(a, b))
jsonLogic.add_operation('in', (wanted: unknown, all: unknown) =>
  Array.isArray(all)
    ? all.some((item) => isEqual(item, wanted))
    : typeof all === 'string' && ['string', 'number'].includes(typeof wanted) && all.includes(String(wanted)),
)

function isSame(a: unknown, b: unknown): boolean {
  return a === null || b === null ? a === b : isEqual(a, b)
}

const peer = (logic: unknown): unknown => jsonLogic.apply(logic as RulesLogic, sample)

describe('JSON Logic compared with json-logic-js', () => {
  const literal = fc.oneof(
    fc.constantFrom<unknown>(0, 1, -1, 2.5, '', '0', '1', 'a', '2 m', true, false, null, [], [1], ['a', 1]),
    fc.integer({ min: -5, max: 5 }),
  )
  const topVar = fc.constantFrom<unknown>(
    't',
    'name',
    'zero',
    'no',
    'yes',
    'list',
    'words',
    'empty',
    'items',
    'deep',
    'deep.a.b.1',
    'nope',
  )
  const { expression } = fc.letrec<{ expression: unknown }>((tie) => ({
    expression: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      literal,
      topVar.map((name) => ({ var: name })),
      // a default applies to null as well, which the library keeps
      fc
        .tuple(
          topVar.filter((name) => name !== 'no'),
          literal,
        )
        .map(([name, otherwise]) => ({ var: [name, otherwise] })),
      fc.array(topVar, { maxLength: 3 }).map((keys) => ({ missing: keys })),
      fc.tuple(fc.nat(3), fc.array(topVar, { maxLength: 3 })).map((args) => ({ missing_some: args })),
      fc
        .tuple(
          fc.constantFrom(
            '==',
            '===',
            '!=',
            '!==',
            '<',
            '<=',
            '>',
            '>=',
            '-',
            '/',
            '%',
            'in',
            'and',
            'or',
            'if',
            '?:',
            '+',
            '*',
            'min',
            'max',
            'cat',
            'merge',
            'substr',
          ),
          tie('expression'),
          tie('expression'),
        )
        .map(([operator, a, b]) => ({ [operator]: [a, b] })),
      fc
        .tuple(
          fc.constantFrom('<', '<=', 'and', 'or', 'if', '+', '*', 'min', 'cat', 'merge', 'substr'),
          tie('expression'),
          tie('expression'),
          tie('expression'),
        )
        .map(([operator, a, b, c]) => ({ [operator]: [a, b, c] })),
      fc
        .tuple(fc.constantFrom('!', '!!', '-', '+', 'cat'), tie('expression'))
        .map(([operator, a]) => ({ [operator]: [a] })),
      fc
        .tuple(
          fc.constantFrom('map', 'filter', 'all', 'some', 'none', 'reduce'),
          tie('expression'),
          fc.constantFrom('==', '<', '+', 'cat'),
          fc.constantFrom('', 'v', 'name', 'current', 'accumulator'),
          literal,
        )
        .map(([operator, list, inner, name, other]) => ({ [operator]: [list, { [inner]: [{ var: name }, other] }] })),
    ),
  }))

  it('returns the same results for valid logic', () => {
    fc.assert(
      fc.property(expression, (logic) => {
        if (typeof logic === 'string') return
        const own = outcome(() => run(logic, sample))
        // the library continues where an unknown value, or one of another kind, would decide
        if ('value' in own) expect(own.value).toEqual(peer(logic))
        else expect(own.failed).toBe('BINDING')
      }),
      runs(3000),
    )
  })

  it('returns the same inside a loop', () => {
    const value = fc.oneof(
      literal,
      fc.double(),
      fc.constantFrom<unknown>(-0, 0, '-0', ' 1', '1e3', '0123', '21.50', [], [null], {}, { b: 1 }, [{ b: 1 }]),
      fc.string({ maxLength: 3 }),
    )
    const operand = fc.oneof(
      { arbitrary: fc.constantFrom<unknown>({ var: 'a' }, { var: 'b' }, { var: ['gone', 2] }), weight: 3 },
      { arbitrary: literal, weight: 1 },
    )
    const operation = fc
      .tuple(fc.constantFrom('==', '===', '!=', '!==', '<', '<=', '>', '>=', '+', '-', '*', '/', '%'), operand, operand)
      .map(([operator, a, b]) => ({ [operator]: [a, b] }))
    const nested = fc
      .tuple(fc.constantFrom('<', '>=', '=='), operation, operand)
      .map(([op, a, b]) => ({ [op]: [a, b] }))
    const joined = fc
      .tuple(fc.constantFrom('and', 'or', '!', '!!'), operation, operand, operation)
      .map(([operator, a, b, c]) => ({ [operator]: operator.startsWith('!') ? [a] : [a, b, c] }))
    fc.assert(
      fc.property(fc.oneof(operation, nested, joined), value, value, fc.boolean(), (logic, a, other, isSame) => {
        const data = { a, b: isSame ? a : other }
        const outside = outcome(() => run(logic, data))
        const inside = outcome(() => (run({ map: [[{ var: 'both' }], logic] }, { both: data }) as unknown[])[0])
        expect(inside).toEqual(outside)
      }),
      runs(3000),
    )
  })
})

function outcome(evaluate: () => unknown): { readonly value: unknown } | { readonly failed: unknown } {
  try {
    return { value: evaluate() }
  } catch (error) {
    return { failed: error instanceof AppError && error.code }
  }
}
