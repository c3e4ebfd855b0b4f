import { describe, expect, expectTypeOf, it } from 'vitest'
import { definePlug } from '../../../src/core/plug/define.ts'
import type { Plug, PlugDefinition } from '../../../src/core/plug/plug.ts'
import { AppError } from '../../../src/kernel/errors.ts'

const minimal = { name: 'thermostat', version: '1.0.0', kind: 'sensor', execute: () => undefined } as const

const RETRY = { maxRetries: 5, minBackoff: 'PT1S', maxBackoff: 'PT1M' }

/** Returns the error of a declaration of unchecked shape. */
function refusal(declaration: unknown): AppError {
  try {
    definePlug(declaration as PlugDefinition)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('the declaration was accepted')
}

describe('definePlug', () => {
  it('infers properties, prepared value and states from the declaration', () => {
    const plug = definePlug({
      name: 'typed',
      version: '1.2.3',
      kind: 'sensor',
      states: ['Hot', 'Cold'],
      input: {
        limit: { type: 'double', mandatory: true },
        unit: { type: 'string', defaultValue: 'C' },
        note: { type: 'string' },
        parts: { type: 'array', mandatory: true },
      },
      prepare: (properties) => ({ limit: properties.limit * 2 }),
      execute(context) {
        const limit: number = context.properties.limit
        const unit: string = context.properties.unit
        const note: string | undefined = context.properties.note
        const parts: readonly unknown[] = context.properties.parts
        // @ts-expect-error an optional property without a default may be absent
        const absent: string = context.properties.note
        // @ts-expect-error only declared properties exist
        const other: unknown = context.properties.other
        const prepared: number = context.prepared.limit
        return [limit, unit, note, parts, absent, other, prepared].length > 0 ? 'Hot' : { state: 'Cold' }
      },
    })
    definePlug({
      ...minimal,
      states: ['Hot', 'Cold'],
      // @ts-expect-error Warm is not declared
      execute: () => 'Warm',
    })
    const plugs: readonly Plug[] = [plug, definePlug(minimal)]
    expect(plugs.map((one) => one.name)).toEqual(['typed', 'thermostat'])
  })

  it('types an enum property as its values', () => {
    const statistics = ['mean', 'max'] as const
    definePlug({
      ...minimal,
      input: {
        mode: { type: 'string', mandatory: true, format: { type: 'enum', values: ['low', 'high'] } },
        statistic: { type: 'string', defaultValue: 'mean', format: { type: 'enum', values: statistics } },
        level: { type: 'string', format: { type: 'enum', values: ['INFO', 'WARN'] } },
        zone: { type: 'string', mandatory: true, format: { type: 'template' } },
      },
      check: ({ mode }) => {
        // @ts-expect-error medium is not one of its values
        if (mode === 'medium') return [{ property: 'mode', message: 'medium' }]
        return []
      },
      execute({ properties }) {
        const mode: 'low' | 'high' = properties.mode
        const statistic: 'mean' | 'max' = properties.statistic
        const level: 'INFO' | 'WARN' | undefined = properties.level
        // @ts-expect-error other formats are any text
        const zone: 'UTC' = properties.zone
        return { rawData: { mode, statistic, level, zone } }
      },
    })
    // A list that is not a literal accepts any text
    const values: readonly string[] = ['a', 'b']
    const loose = definePlug({
      ...minimal,
      input: { any: { type: 'string', mandatory: true, format: { type: 'enum', values } } },
      execute({ properties }) {
        const any: string = properties.any
        return { rawData: { any } }
      },
    })
    expect(loose.input['any']?.format?.values).toEqual(values)
  })

  it('accepts a choice in the short form, and keeps its values as types', () => {
    const plug = definePlug({
      name: 'valve',
      version: '1.0.0',
      kind: 'sensor',
      states: ['Open'],
      input: { mode: { type: 'enum', values: ['low', 'high'], defaultValue: 'low', description: 'how far' } },
      execute({ properties }) {
        expectTypeOf(properties.mode).toEqualTypeOf<'low' | 'high'>()
        return 'Open'
      },
    })
    expect(plug.input).toEqual({
      mode: {
        type: 'string',
        defaultValue: 'low',
        description: 'how far',
        format: { type: 'enum', values: ['low', 'high'] },
      },
    })
    expectTypeOf(plug.input.mode.format.values).toEqualTypeOf<readonly ['low', 'high']>()
    expectTypeOf(plug.name).toEqualTypeOf<'valve'>()
    expectTypeOf(plug.states).toEqualTypeOf<readonly 'Open'[]>()
  })

  it('fills in omitted fields', () => {
    expect(definePlug(minimal)).toMatchObject({ states: [], input: {}, output: {}, openOutput: false })
    expect(definePlug(minimal).check).toBeUndefined()
    expect(definePlug(minimal).prepare).toBeUndefined()
  })

  it('is deeply frozen, and independent of the original object', () => {
    const states = ['A']
    const input = { list: { type: 'array' as const, defaultValue: [{ a: 1 }] } }
    const plug = definePlug({ ...minimal, states, input })
    states.push('B')
    input.list.defaultValue.push({ a: 2 })
    expect(plug.states).toEqual(['A'])
    expect(plug.input['list']?.defaultValue).toEqual([{ a: 1 }])
    for (const part of [plug, plug.states, plug.input, plug.input['list'], plug.output])
      expect(Object.isFrozen(part)).toBe(true)
  })

  it('accepts a sensor without states and an actuator with an empty list of them', () => {
    expect(definePlug({ ...minimal, output: { value: { type: 'double' } } }).states).toEqual([])
    expect(definePlug({ ...minimal, kind: 'actuator', states: [] }).states).toEqual([])
  })

  const field = { type: 'string' }
  it.each([
    [{ name: 'my plug' }, '/name', '"my plug" is not a valid plug name'],
    [{ name: '1st' }, '/name', '"1st"'],
    [{ name: 'constructor' }, '/name', '"constructor"'],
    [{ name: undefined }, '/name', 'nothing is not a valid plug name'],
    [{ version: '1.0' }, '/version', '"1.0" is not a valid version'],
    [{ kind: 'relation' }, '/kind', '"relation" is not a valid kind of plug'],
    [{ execute: 'run' }, '/execute', 'the function is missing'],
    [{ calculates: 5 }, '/calculates', '5 is neither an object nor a function'],
    [{ states: ['A'], calculates: { otherwise: 'A', state: 'A' } }, '/calculates/state', '"state" is not a field of'],
    [
      { states: ['A'], calculates: { states: { B: 'x > 1' }, otherwise: 'A' } },
      '/calculates/states/B',
      '"B" is not one of the states',
    ],
    [
      { states: ['A'], calculates: { states: { A: 'x > 1' } } },
      '/calculates/otherwise',
      'nothing is not one of the states',
    ],
    [
      { states: ['A', '1'], calculates: { states: { 1: 'x > 1' }, otherwise: 'A' } },
      '/calculates/states/1',
      'the state "1" looks like an array index and would come first',
    ],
    [
      { states: ['A'], calculates: { rawData: { x: 'y > 1' }, otherwise: 'A' } },
      '/calculates/rawData/x',
      '"y > 1" is not a formula for a number',
    ],
    [
      { states: ['A'], calculates: { rawData: { x: null }, otherwise: 'A' } },
      '/calculates/rawData/x',
      'null is not a formula for a number',
    ],
    [
      { states: ['A'], calculates: { states: { A: { op: '>', of: 1 } }, otherwise: 'A' } },
      '/calculates/states/A',
      'is not a formula for a truth',
    ],
    [
      { states: ['A'], calculates: { states: { A: 'name.length > 1' }, otherwise: 'A' } },
      '/calculates/states/A',
      '"name.length > 1" is not a formula for a truth',
    ],
    [
      { states: ['A'], calculates: { rawData: 'x', otherwise: 'A' } },
      '/calculates/rawData',
      '"x" is not an object of formulas',
    ],
    [{ check: true }, '/check', 'true is not a function'],
    [{ inputs: {} }, '/inputs', '"inputs" is not a field of'],
    [{ description: 5 }, '/description', '5 is not text'],
    [{ compatible: '^1.0.0' }, '/compatible', '"^1.0.0" is not a valid version range'],
    [{ tellsSilence: 'yes' }, '/tellsSilence', '"yes" is neither true nor false'],
    [{ downtime: 'wait' }, '/downtime', '"wait" is not restart, continue or confirm'],
    [{ openOutput: 'yes' }, '/openOutput', '"yes" is neither true nor false'],
    [{ acts: 'yes' }, '/acts', '"yes" is neither true nor false'],
    [{ retry: RETRY }, '/retry', 'a sensor cannot retry by default'],
    [{ kind: 'actuator', retry: 5 }, '/retry', '5 is not an object'],
    [
      { kind: 'actuator', retry: { ...RETRY, maxRetries: 101 } },
      '/retry/maxRetries',
      '101 is not a number from 1 to 100',
    ],
    [
      { kind: 'actuator', retry: { ...RETRY, maxBackoff: 'soon' } },
      '/retry/maxBackoff',
      '"soon" is not a valid duration',
    ],
    [{ kind: 'actuator', retry: { ...RETRY, minBackoff: 'PT2M' } }, '/retry/minBackoff', 'is longer than maxBackoff'],
    [{ states: 'On' }, '/states', '"On" is not a list of states'],
    [{ states: ['On', ''] }, '/states/1', '"" is not a valid state'],
    [{ states: [1] }, '/states/0', '1 is not a valid state'],
    [{ states: ['On', 'Off', 'On'] }, '/states/2', 'the state "On" appears twice'],
    [{ states: ['*'] }, '/states/0', 'means any state'],
    [{ states: ['__proto__'] }, '/states/0', 'is not allowed'],
    [{ states: Array.from({ length: 1001 }, (_, i) => `s${i}`) }, '/states', '1001 states are too many'],
    [{ kind: 'actuator', states: ['On'] }, '/states', 'an actuator cannot have states'],
    [{ input: [] }, '/input', '[] is not an object of fields'],
    [{ input: { a: 'string' } }, '/input/a', '"string" is not a field'],
    [{ input: { a: { type: 'number' } } }, '/input/a/type', '"number" is not a valid type'],
    [{ input: { a: { type: 'toString' } } }, '/input/a/type', '"toString" is not a valid type'],
    [{ input: { a: { ...field, default: 1 } } }, '/input/a/default', '"default" is not part of a field'],
    [{ input: { a: { ...field, mandatory: 1 } } }, '/input/a/mandatory', '1 is neither'],
    [{ input: { a: { type: 'double', defaultValue: '5' } } }, '/input/a/defaultValue', 'is not a number'],
    [{ input: { a: { type: 'double', defaultValue: Number.NaN } } }, '/input/a/defaultValue', 'NaN'],
    [
      { input: { a: { ...field, format: { type: 'enum', values: ['x'] }, defaultValue: 'y' } } },
      '/input/a/defaultValue',
      '"y" is not among the values',
    ],
    [{ input: { a: { type: 'any', defaultValue: new Map() } } }, '/input/a/defaultValue', 'not JSON'],
    [{ input: { a: { ...field, example: () => 1 } } }, '/input/a/example', 'not JSON'],
    [{ input: { a: { ...field, format: { type: 'enum' } } } }, '/input/a/format/values', 'nothing'],
    [{ input: { a: { type: 'enum' } } }, '/input/a/values', 'nothing'],
    [{ input: { a: { type: 'enum', values: ['x', 'x'] } } }, '/input/a/values', 'distinct'],
    [{ input: { a: { type: 'enum', values: ['x'], defaultValue: 'y' } } }, '/input/a/defaultValue', 'among'],
    [
      { input: { a: { ...field, format: { type: 'url', values: ['x'] } } } },
      '/input/a/format/values',
      'only the format "enum"',
    ],
    [
      { input: { a: { type: 'double', format: { type: 'enum', values: ['1'] } } } },
      '/input/a/format',
      'an enum is text',
    ],
    [{ input: { a: { ...field, format: { type: 'text' } } } }, '/input/a/format', 'is not a valid format'],
    [{ input: { toString: field } }, '/input/toString', '"toString" is not a valid field name'],
    [
      { output: JSON.parse('{"__proto__":{"type":"string"}}') as unknown },
      '/output/__proto__',
      'is not a valid field name',
    ],
    [{ output: { a: { ...field, mandatory: true } } }, '/output/a/mandatory', '"mandatory" is not part of a field'],
    [{ output: { a: { type: 'double', unit: 1 } } }, '/output/a/unit', '1 is not text'],
    [{ input: { 'a/b': { type: 'x' } } }, '/input/a~1b/type', '"x" is not a valid type'],
  ])('rejects %j at %s: %s', (change, path, message) => {
    const error = refusal({ ...minimal, ...change })
    expect(error.code).toBe('PLUG')
    expect(error.issues.map((issue) => issue.path)).toEqual([path])
    expect(error.message).toContain(message)
    expect(error.message).toContain(path)
  })

  it('reports all problems at once and names the plug', () => {
    const error = refusal({ ...minimal, version: 'x', states: ['', 'A', 'A'], input: { a: { type: 'b' } } })
    expect(error.issues.map((issue) => issue.path)).toEqual(['/version', '/states/0', '/states/2', '/input/a/type'])
    expect(error.message).toMatch(/^plug "thermostat" has 4 problems:\n {2}\/version: /)
  })

  it.each([[undefined], [null], ['plug'], [[]]])('rejects %j as a declaration', (declaration) => {
    expect(refusal(declaration).message).toContain('the declaration is not an object')
  })
})
