import { describe, expect, it } from 'vitest'
import { bitflip } from '../../plugins/bitflip/plug.ts'
import { runPlug } from '../support/plug-context.ts'

describe('bitflip', () => {
  it('returns 1 first, then alternates between 0 and 1', () => {
    const seen: (string | undefined)[] = []
    let internalState: unknown
    for (let i = 0; i < 5; i++) {
      const ran = runPlug(bitflip, { internalState })
      internalState = ran.internalState
      seen.push(ran.state)
    }
    expect(seen).toEqual(['1', '0', '1', '0', '1'])
  })

  it('starts again when its internal state is unreadable', () => {
    expect(runPlug(bitflip, { internalState: { old: true } }).state).toBe('1')
  })
})
