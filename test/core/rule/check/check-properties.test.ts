import { describe, expect, it } from 'vitest'
import { createRegistry } from '../../../../src/core/plug/registry.ts'
import { validateRule, validateTemplate } from '../../../../src/core/rule/validate.ts'
import { AppError } from '../../../../src/kernel/errors.ts'
import { sensorPlug } from '../../../support/make-plug.ts'

const picky = sensorPlug('picky', ['On'], {
  input: { a: { type: 'integer', mandatory: true }, b: { type: 'integer', defaultValue: 1 } },
  prepare({ a, b }) {
    if (a + b > 10) throw new AppError('VALIDATION', `${a} and ${b} are more than 10`)
    if (a < 0) throw new TypeError('below nothing')
    return a + b
  },
  execute: () => 'On',
})
const plugs = createRegistry([picky])
const sensors = (properties: Record<string, unknown>) => [{ label: 's', name: 'picky', resource: '$', properties }]
const problems = (properties: Record<string, unknown>) =>
  validateRule({ sensors: sensors(properties) }, plugs).issues.map(({ path, message }) => `${path}: ${message}`)

describe('properties that a plug cannot prepare', () => {
  it.each([
    [{ a: 9, b: 2 }, ['/sensors/0/properties: sensor "s": 9 and 2 are more than 10']],
    [{ a: 10 }, ['/sensors/0/properties: sensor "s": 10 and 1 are more than 10']],
    [{ a: -1 }, ['/sensors/0/properties: sensor "s": below nothing']],
    [{ a: 1 }, []],
  ])('are rejected with their node when the rule is checked: %j', (properties, expected) => {
    expect(problems(properties)).toEqual(expected)
  })

  it('are checked at run time if one of them is known only then', () => {
    expect(problems({ a: 99, b: '${streamdata.b}' })).toEqual([])
  })

  it('are not checked again when they already have a problem', () => {
    expect(problems({ a: 'many', b: 99 })).toHaveLength(1)
    const { issues } = validateTemplate({ name: 't', sensors: sensors({ b: 99 }) }, plugs)
    expect(issues.filter(({ severity }) => severity === 'ERROR')).toEqual([])
  })
})
