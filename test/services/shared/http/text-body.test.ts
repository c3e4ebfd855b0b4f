import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { TextBody, type TextBodyOptions } from '../../../../src/services/shared/http/text-body.ts'
import { Yielder } from '../../../../src/kernel/yielder.ts'
import { machineTimers } from '../../../../src/platform/timers.ts'

const NEVER = 1_000_000

function bodyOf<T>(values: AsyncIterable<T>, more: Partial<TextBodyOptions<T>> = {}): TextBody<T> {
  const parts = {
    values,
    textOf: String,
    turns: new Yielder(machineTimers),
    quiet: '.',
    quietMs: NEVER,
    begun: () => undefined,
  }
  return new TextBody({ ...parts, ...more })
}

async function* counting(until: number, ended: () => void = () => undefined): AsyncGenerator<number> {
  try {
    for (let n = 1; n <= until; n++) yield n
  } finally {
    ended()
  }
}

async function whole(body: TextBody<unknown>): Promise<string> {
  let text = ''
  for await (const chunk of body) text += String(chunk)
  return text
}

describe('a streamed body of texts', () => {
  it('contains every value in order, after its prefix', async () => {
    const values = Array.from({ length: 100 }, (_, i) => String(i + 1)).join('')
    expect(await whole(bodyOf(counting(100), { first: 'first ' }))).toBe(`first ${values}`)
  })

  it('reports once that it begins, before its first value', async () => {
    const said: string[] = []
    const textOf = (n: number): string => (said.push(String(n)), String(n))
    await whole(bodyOf(counting(3), { textOf, begun: () => void said.push('begun') }))
    expect(said).toEqual(['begun', '1', '2', '3'])
  })

  it('sends keep-alive text while no value comes', async () => {
    const gone = new AbortController()
    async function* silent(): AsyncGenerator<number> {
      await once(gone.signal, 'abort')
      yield 1
    }
    const body = bodyOf(silent(), { quietMs: 1 })
    const [first] = (await once(body, 'data')) as unknown[]
    expect(String(first)).toBe('.')
    gone.abort()
    body.destroy()
  })

  it('requests no more than its reader consumes', async () => {
    let asked = 0
    const textOf = (): string => (asked++, 'x'.repeat(70_000))
    const body = bodyOf(counting(1000), { textOf })
    await once(body, 'readable')
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(asked).toBe(1)
    body.destroy()
  })

  it('closes its source when its reader leaves', async () => {
    const ended = new Promise<void>((resolve) => {
      const body = bodyOf(counting(Number.POSITIVE_INFINITY, resolve))
      body.once('data', () => body.destroy())
    })
    await expect(ended).resolves.toBeUndefined()
  })

  it('fails with its values', async () => {
    async function* failing(): AsyncGenerator<number> {
      yield 1
      throw new Error('over')
    }
    await expect(whole(bodyOf(failing()))).rejects.toThrow('over')
  })

  it('interleaves with other bodies: each has its own values whole', async () => {
    const turns = new Yielder(machineTimers)
    const texts = await Promise.all(Array.from({ length: 50 }, () => whole(bodyOf(counting(20), { turns }))))
    expect(new Set(texts).size).toBe(1)
  })
})
