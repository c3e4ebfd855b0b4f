/** Tests that calls of plugs wait while the store is unavailable, and only then. */
import { describe, expect, it } from 'vitest'
import { patient } from '../../../src/host/wiring/patient.ts'
import { AppError } from '../../../src/kernel/errors.ts'

const away = () => new AppError('UNAVAILABLE', 'away')

describe('a patient port', () => {
  it('makes a call again, after a while each, until the store is there', async () => {
    const calls: string[] = []
    const port = {
      raise: async (text: string) => {
        calls.push(text)
        if (calls.length < 3) throw away()
        return text.length
      },
    }
    const pauses: number[] = []
    const after = (ms: number, work: () => void) => {
      pauses.push(ms)
      queueMicrotask(work)
      return () => undefined
    }
    expect(await patient(port, after).raise('hot')).toBe(3)
    expect([calls, pauses.length]).toEqual([['hot', 'hot', 'hot'], 2])
  })

  it('passes every other rejection on, and checks at once', async () => {
    const port = {
      get: async () => Promise.reject(new AppError('NOT_FOUND', 'none')),
      check: () => ['wrong'],
    }
    const made = patient(port, () => expect.unreachable())
    await expect(made.get()).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(made.check()).toEqual(['wrong'])
  })
})
