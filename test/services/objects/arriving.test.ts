import { PassThrough } from 'node:stream'
import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { arriving } from '../../../src/services/objects/routes/take-content.ts'
import { bytes, textOf } from './support.ts'

/** Creates a body, and the timers that check its progress. */
function sent() {
  const body = new PassThrough()
  const looks: (() => void)[] = []
  const pieces = arriving(body as unknown as IncomingMessage, (_ms, look) => {
    looks.push(look)
    return () => void looks.splice(looks.indexOf(look), 1)
  })
  return { body, looks, pieces }
}

describe('a body', () => {
  it('is read while pieces arrive, and leaves no timer', async () => {
    const { body, looks, pieces } = sent()
    const reading = textOf(pieces)
    for (const text of ['a', 'b', 'c']) {
      body.write(bytes(text))
      await new Promise((resolve) => setImmediate(resolve))
      looks.shift()?.()
    }
    body.end()
    expect([await reading, looks.length]).toEqual(['abc', 0])
  })

  it('is rejected after a period without a byte', async () => {
    const { body, looks, pieces } = sent()
    const reading = textOf(pieces)
    await new Promise((resolve) => setImmediate(resolve))
    looks.shift()?.()
    await expect(reading).rejects.toMatchObject({ s3Code: 'RequestTimeout' })
    expect(body.destroyed).toBe(true)
  })

  it('is not rejected because its reader is slow', async () => {
    const { body, looks, pieces } = sent()
    body.write(bytes('a'))
    const iterator = pieces[Symbol.asyncIterator]()
    expect((await iterator.next()).done).toBe(false)
    looks.shift()?.()
    looks.shift()?.()
    expect(body.destroyed).toBe(false)
    await iterator.return?.()
    expect(looks).toEqual([])
  })
})
