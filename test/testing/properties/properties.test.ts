import { describe, expect, it } from 'vitest'
import {
  coolDownRespected,
  neverMoreThan,
  neverSilentFor,
  noFiringWithoutCause,
  restartChangesNothing,
} from '../../../src/testing/index.ts'
import { fired, moment, result, runOf } from './by-hand.ts'

describe('coolDownRespected', () => {
  const check = (...events: ReturnType<typeof fired>[]) => coolDownRespected().check(runOf(events))

  it('holds when a destination waits for the cool-down of its trigger', () => {
    expect(check(fired(0), fired(10_000), fired(20_001))).toBeUndefined()
  })
  it('fails when it fires one moment too early', () => {
    expect(check(fired(0), fired(9999))).toBe(
      'a fired at 1970-01-01T00:00:00.000Z and again 9 s 999 ms later; its cool-down is 10 s',
    )
  })
  it('counts from any firing of the destination, by the policy of the trigger that fires it again', () => {
    expect(check(fired(0, 'a', 's'), fired(5000))).toContain('again 5 s later')
    expect(check(fired(0), fired(5000, 'a', 's'))).toBeUndefined()
  })
  it('distinguishes destinations', () => {
    expect(check(fired(0), fired(1, 'b', 's'))).toBeUndefined()
  })
})

describe('noFiringWithoutCause', () => {
  const check = (...events: Parameters<typeof runOf>[0]) => noFiringWithoutCause().check(runOf(events))

  it('holds after a new result of a sensor behind the gate', () => {
    expect(check(result(0), fired(0))).toBeUndefined()
  })
  it.each([
    ['the result is absent', [fired(0)]],
    ['it was of another invocation', [result(0, 's', 0), fired(0)]],
    ['it was of another node', [result(0, 'b'), fired(0)]],
    ['the result comes after the firing', [fired(0), result(0)]],
  ])('fails when %s', (_, events) => {
    expect(check(...events)).toContain('because of g, but s had no result in that invocation')
  })
})

describe('neverMoreThan', () => {
  const check = (most: number, times: readonly number[], node?: string) =>
    neverMoreThan(most, { within: '1m', ...(node && { node }) }).check(runOf(times.map((time) => fired(time))))

  it.each<[string, number, number[], boolean]>([
    ['as many as allowed', 2, [0, 59_999], true],
    ['one too many', 2, [0, 1, 59_999], false],
    ['one at the end of the window', 2, [0, 1, 60_000], true],
    ['one too many, late in the run', 1, [0, 60_000, 120_000, 150_000], false],
    ['fails for any firing if none is allowed', 0, [5], false],
    ['holds without a firing if none is allowed', 0, [], true],
  ])('%s', (_, most, times, holds) => {
    expect(check(most, times) === undefined).toBe(holds)
  })

  it('reports the firings that are too close', () => {
    expect(check(1, [0, 30_000])).toBe(
      'a fired 2 times from 1970-01-01T00:00:00.000Z to 1970-01-01T00:00:30.000Z, within 30 s',
    )
  })

  it('counts each destination separately, and only the named one', () => {
    const run = runOf([fired(0), fired(1, 'b'), fired(2, 'b')])
    expect(neverMoreThan(1, { within: 10, node: 'a' }).check(run)).toBeUndefined()
    expect(neverMoreThan(1, { within: 10 }).check(run)).toContain('b fired 2 times')
    expect(neverMoreThan(2, { within: 10 }).check(run)).toBeUndefined()
  })

  it.each([
    [-1, '1h'],
    [1.5, '1h'],
    [1, 'soon'],
    [1, 0],
  ])('rejects %j within %j', (most, within) => {
    expect(() => neverMoreThan(most, { within })).toThrow(expect.objectContaining({ code: 'VALIDATION' }))
  })
})

describe('neverSilentFor', () => {
  const hot = { while: (m: ReturnType<typeof moment>) => m.state('s') === 'On' }
  const check = (moments: ReturnType<typeof moment>[], until: number, node?: string) =>
    neverSilentFor('1m', { ...hot, ...(node && { node }) }).check(runOf([], { moments, until }))

  it.each<[string, ReturnType<typeof moment>[], number, boolean]>([
    ['holds while the condition does not', [moment(0, 'Off')], 500_000, true],
    ['holds for as long as it may be', [moment(0, 'On'), moment(60_000, 'Off')], 500_000, true],
    ['does not hold a moment longer', [moment(0, 'On'), moment(60_001, 'Off')], 500_000, false],
    ['holds over the end of the run', [moment(0, 'On')], 60_000, true],
    ['does not hold beyond it', [moment(0, 'On')], 60_001, false],
    [
      'begins anew with a firing',
      [moment(0, 'On'), moment(50_000, 'On', fired(50_000)), moment(100_000)],
      100_000,
      true,
    ],
    ['begins anew with the condition', [moment(0, 'On'), moment(50_000), moment(55_000, 'On')], 100_000, true],
  ])('%s', (_, moments, until, holds) => {
    expect(check(moments, until) === undefined).toBe(holds)
  })

  it('observes only the named node', () => {
    const moments = [moment(0, 'On'), moment(50_000, 'On', fired(50_000, 'b'))]
    expect(check(moments, 100_000)).toBeUndefined()
    expect(check(moments, 100_000, 'a')).toBe(
      'a was silent from 1970-01-01T00:00:00.000Z for 1 min 40 s, longer than 1 min',
    )
  })
})

describe('restartChangesNothing', () => {
  it('holds when the same events repeat', async () => {
    expect(await restartChangesNothing().check(runOf([fired(0)]))).toBeUndefined()
  })
  it.each([
    [
      'one is missing',
      [] as ReturnType<typeof fired>[],
      'nothing instead of {"invocation":1,"type":"fired","node":"a"',
    ],
    ['one is too many', [fired(0), fired(1)], '"effect":"1"} instead of nothing'],
    ['one is another', [fired(0, 'b')], '"node":"b"'],
  ])('fails when %s', async (_, events, text) => {
    const run = runOf([fired(0)], { restarted: () => Promise.resolve(runOf(events)) })
    expect(await restartChangesNothing().check(run)).toContain(text)
    expect(await restartChangesNothing().check(run)).toContain(
      'when killed after message 2 it differs at 1970-01-01T00:00:00',
    )
  })
})
