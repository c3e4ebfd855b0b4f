import { expect, it } from 'vitest'
import { JobSlots } from '../../src/jobs/type-runner.ts'

it('slots of a type are limited per host, and a runner that no longer waits delays no others', () => {
  const handler = { type: 'work', concurrency: 1, run: () => Promise.reject(new Error('never run')) }
  const host = new JobSlots()
  const [one, other] = [host.of(handler), host.of({ ...handler })]
  const woken: string[] = []
  const [gone, stays] = [() => void woken.push('gone'), () => void woken.push('stays')]
  expect(one.take(gone)).toBe(true)
  expect([other.take(gone), other.take(stays)]).toEqual([false, false])
  expect(host.of({ ...handler, type: 'other' }).take(gone)).toBe(true)
  one.forget(gone)
  one.release()
  expect(woken).toEqual(['stays'])
})
