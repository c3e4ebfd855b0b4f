import { describe, expect, it } from 'vitest'
import { compileProperties } from '../../../../src/core/language/placeholders/properties.ts'
import type { InputField } from '../../../../src/core/plug/plug.ts'
import type { AppError } from '../../../../src/kernel/errors.ts'
import { fakeScope } from './fake-scope.ts'
import { thrown } from './thrown.ts'

const fields: Record<string, InputField> = {
  text: { type: 'string', format: { type: 'template' } },
  when: { type: 'object', format: { type: 'logic' } },
  value: { type: 'double' },
}
const scope = fakeScope({ nodes: { a: { x: 5 } }, stream: { t: 20 }, metadata: { city: 'Gent' }, variables: { v: 1 } })

describe('properties', () => {
  it('without placeholders are resolved in advance', () => {
    const compiled = compileProperties({ value: 5, list: [1], absent: undefined }, fields)
    expect(compiled.constant).toEqual({ value: 5, list: [1] })
    expect(Object.keys(compiled.constant ?? {})).not.toContain('absent')
    expect(compiled.evaluate(scope)).toEqual({ value: 5, list: [1] })
  })

  it('are plain objects', () => {
    const { constant } = compileProperties({ value: 5 }, fields)
    expect(Object.getPrototypeOf(constant)).toBe(Object.prototype)
    expect(Object.isFrozen(constant)).toBe(true)
    expect(structuredClone(constant)).toStrictEqual({ value: 5 })
  })

  it('are filled in; missing optional ones are absent', () => {
    const compiled = compileProperties(
      {
        value: '${nodes.a.rawData.x}',
        text: 'x={{a.x}} t=${streamdata.t}',
        city: 'META.$.city',
        b: 1,
        no: 'META.$.no',
        o: '${?loop.x}',
      },
      fields,
    )
    expect(compiled.constant).toBeUndefined()
    expect(compiled.evaluate(scope)).toStrictEqual({ value: 5, text: 'x=5 t=20', city: 'Gent', b: 1 })
  })

  it('resolve {{}} only in template fields', () => {
    expect(compileProperties({ value: '{{a.x}}' }, fields).constant).toEqual({ value: '{{a.x}}' })
  })

  it('keep JSON Logic unchanged', () => {
    const when = { '>': ['${streamdata.t}', 'META.$.max'] }
    expect(compileProperties({ when }, fields).constant).toEqual({ when })
  })

  it('list the data to fetch', () => {
    const { needs } = compileProperties(
      {
        a: '${vault.K} ${vault.K} ${vault.L}',
        b: '${variables.v}',
        c: '${task.resource.meta.x}',
        text: '{{META.$.y}}',
      },
      fields,
    )
    expect(needs).toEqual({ taskMetadata: true, nodeMetadata: true, secrets: ['K', 'L'], variables: ['v'] })
    expect(compileProperties({ a: 1 }, {}).needs).toEqual({
      taskMetadata: false,
      nodeMetadata: false,
      secrets: [],
      variables: [],
    })
  })

  it('require no metadata for the resource itself', () => {
    expect(compileProperties({ a: '${?node.RESOURCE} ${?task.RESOURCE}' }, {}).needs).toMatchObject({
      taskMetadata: false,
      nodeMetadata: false,
    })
  })

  it('report every missing value at once', () => {
    const compiled = compileProperties({ a: '${loop.x}', b: 1, 'c/d': ['${streamdata.zz}'] }, {})
    const error = thrown(() => compiled.evaluate(scope))
    expect(error).toMatchObject({ code: 'BINDING' })
    expect((error as AppError).issues.map((issue) => issue.path)).toEqual(['/a', '/c~1d/0'])
  })

  it('report every invalid placeholder at once, and reserved names', () => {
    const properties: unknown = JSON.parse('{"a":"${","__proto__":1,"b":{"constructor":2},"text":"{{#if a}}"}')
    const error = thrown(() => compileProperties(properties as Record<string, unknown>, fields))
    expect((error as AppError).issues.map((issue) => issue.path)).toEqual([
      '/a',
      '/__proto__',
      '/b/constructor',
      '/text',
    ])
  })
})
