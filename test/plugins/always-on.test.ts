import { describe, expect, it } from 'vitest'
import { alwaysON } from '../../plugins/always-on/plug.ts'
import { runPlug } from '../support/plug-context.ts'

describe('alwaysON', () => {
  it('is ON on every run', () => {
    expect(runPlug(alwaysON)).toMatchObject({ state: 'ON', rawData: undefined })
    expect(runPlug(alwaysON, { internalState: 'OFF', message: { state: 'OFF' } }).state).toBe('ON')
  })
})
