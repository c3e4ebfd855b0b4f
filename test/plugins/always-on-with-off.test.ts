import { describe, expect, it } from 'vitest'
import { alwaysONWithOFF } from '../../plugins/always-on-with-off/plug.ts'
import { runPlug } from '../support/plug-context.ts'

describe('alwaysONWithOFF', () => {
  it('is ON on every run', () => {
    expect(runPlug(alwaysONWithOFF)).toMatchObject({ state: 'ON', rawData: undefined })
    expect(runPlug(alwaysONWithOFF, { internalState: 'OFF', message: { state: 'OFF' } }).state).toBe('ON')
  })
})
