import { describe, expect, it } from 'vitest'
import { taskOutput } from '../../plugins/task-output/plug.ts'
import { runPlug } from '../support/plug-context.ts'

describe('TaskOutput', () => {
  it('returns its configured values', () => {
    const values = { verdict: 'ok', count: 3 }
    expect(runPlug(taskOutput, { properties: { values } })).toMatchObject({
      rawData: values,
      message: JSON.stringify(values),
    })
  })

  it('accepts JSON text', () => {
    expect(runPlug(taskOutput, { properties: { values: '{"a":1}' } }).rawData).toEqual({ a: 1 })
  })
})
