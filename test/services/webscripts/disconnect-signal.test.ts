import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { DisconnectSignal } from '../../../src/services/webscripts/disconnect-signal.ts'

function listened() {
  const response = Object.assign(new EventEmitter(), { destroyed: false, writableFinished: false })
  const signal = new DisconnectSignal(response as unknown as ServerResponse)
  const seen = { count: 0 }
  const listener = () => void seen.count++
  signal.addEventListener('abort', listener)
  const close = (writableFinished: boolean) => {
    Object.assign(response, { destroyed: true, writableFinished }).emit('close')
    return [signal.aborted, seen.count]
  }
  return { response, signal, listener, close }
}

it('a disconnect before the end of the response aborts, and one after it does not', () => {
  expect(listened().signal.aborted).toBe(false)
  expect(listened().close(false)).toEqual([true, 1])
  expect(listened().close(true)).toEqual([false, 0])
})

it('removing a listener removes it from the response', () => {
  const { response, signal, listener, close } = listened()
  signal.removeEventListener('abort', listener)
  expect(response.listenerCount('close')).toBe(0)
  expect(close(false)).toEqual([true, 0])
})
