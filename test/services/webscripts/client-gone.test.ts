import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { ClientGone } from '../../../src/services/webscripts/client-gone.ts'

function listened() {
  const response = Object.assign(new EventEmitter(), { destroyed: false, writableFinished: false })
  const gone = new ClientGone(response as unknown as ServerResponse)
  const seen = { count: 0 }
  const listener = () => void seen.count++
  gone.addEventListener('abort', listener)
  const close = (writableFinished: boolean) => {
    Object.assign(response, { destroyed: true, writableFinished }).emit('close')
    return [gone.aborted, seen.count]
  }
  return { response, gone, listener, close }
}

it('a client that goes away before it has all of its answer is gone, one that has it is not', () => {
  expect(listened().gone.aborted).toBe(false)
  expect(listened().close(false)).toEqual([true, 1])
  expect(listened().close(true)).toEqual([false, 0])
})

it('leaves nothing at the response for who listens no more', () => {
  const { response, gone, listener, close } = listened()
  gone.removeEventListener('abort', listener)
  expect(response.listenerCount('close')).toBe(0)
  expect(close(false)).toEqual([true, 0])
})
