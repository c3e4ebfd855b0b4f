import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { ClientGone } from '../../../src/services/webscripts/client-gone.ts'

function responseOf() {
  const response = Object.assign(new EventEmitter(), { destroyed: false, writableFinished: false })
  const close = (writableFinished: boolean) => {
    Object.assign(response, { destroyed: true, writableFinished }).emit('close')
  }
  return { response, close, gone: new ClientGone(response as unknown as ServerResponse) }
}

describe('a client that goes away', () => {
  it('is told of when its answer has not gone out whole', () => {
    const { close, gone } = responseOf()
    let count = 0
    gone.addEventListener('abort', () => count++)
    expect(gone.aborted).toBe(false)
    close(false)
    expect([gone.aborted, count]).toEqual([true, 1])
  })

  it('is nobody who has the answer', () => {
    const { close, gone } = responseOf()
    let count = 0
    gone.addEventListener('abort', () => count++)
    close(true)
    expect([gone.aborted, count]).toEqual([false, 0])
  })

  it('leaves nothing at the response for who listens no more', () => {
    const { response, close, gone } = responseOf()
    let count = 0
    const listener = () => count++
    gone.addEventListener('abort', listener)
    gone.removeEventListener('abort', listener)
    expect(response.listenerCount('close')).toBe(0)
    close(false)
    expect(count).toBe(0)
  })
})
