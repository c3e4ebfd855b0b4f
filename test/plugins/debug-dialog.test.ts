import { describe, expect, it } from 'vitest'
import { debugDialog, debugDialogActuator } from '../../plugins/debug-dialog/plug.ts'
import { runPlug } from '../support/plug-context.ts'

describe('debugDialog', () => {
  it.each([
    ['sensor', debugDialog, 'Success'],
    ['actuator', debugDialogActuator, undefined],
  ] as const)('as %s shows and returns the message', (kind, plug, state) => {
    expect(plug.kind).toBe(kind)
    expect(runPlug(plug, { properties: { message: 'too hot' } })).toMatchObject({
      state,
      message: 'too hot',
      log: ['INFO too hot'],
    })
  })
})
