import { describe, expect, it } from 'vitest'
import { ScriptLog } from '../../../src/services/webscripts/script-log.ts'
import { type LogLevel, MAX_LINES } from '../../../src/services/webscripts/webscript-schema.ts'

const line = (message: string, level: LogLevel = 'info', version = '1.0.0') =>
  ({ time: 0, level, kind: 'console', message, version }) as const

describe('the log of webscripts', () => {
  it('keeps the last lines of each webscript, in pages', () => {
    const log = new ScriptLog()
    for (let n = 0; n < MAX_LINES + 5; n++) log.add('a/one', line(`line ${n}`))
    log.add('a/two', line('another'))
    const last = log.page('a/one', { limit: 2 })
    expect(last.values.map(({ message }) => message)).toEqual([`line ${MAX_LINES + 4}`, `line ${MAX_LINES + 3}`])
    const older = log.page('a/one', { limit: 2, after: last.next })
    expect(older.values.map(({ message }) => message)).toEqual([`line ${MAX_LINES + 2}`, `line ${MAX_LINES + 1}`])
    const all = log.page('a/one', { limit: MAX_LINES })
    expect(all.values.at(-1)).toEqual({
      ...line('line 5'),
      time: undefined,
      number: 6,
      timestamp: '1970-01-01T00:00:00.000Z',
    })
    expect(all).not.toHaveProperty('next')
    expect(log.page('a/three', {})).toEqual({ values: [] })
  })

  it('is filtered by level, version and text', () => {
    const log = new ScriptLog()
    for (const level of ['debug', 'info', 'warn', 'error'] as const) log.add('a', line(`Said ${level}`, level))
    log.add('a', line('of the second', 'warn', '2.0.0'))
    const messages = (query: Parameters<ScriptLog['page']>[1]) =>
      log.page('a', query).values.map(({ message }) => message)
    expect(messages({ level: 'warn' })).toEqual(['of the second', 'Said error', 'Said warn'])
    expect(messages({ version: '2.0.0' })).toEqual(['of the second'])
    expect(messages({ search: 'SAID E' })).toEqual(['Said error'])
    expect(messages({ after: 2 })).toEqual(['Said debug'])
    expect(messages({ kind: 'request' })).toEqual([])
  })

  it('cuts a line that is too long', () => {
    const log = new ScriptLog()
    log.add('a', line('x'.repeat(5_000)))
    expect(log.page('a', {}).values[0]?.message.length).toBe(2_000)
  })

  it('is limited in characters: the oldest lines of a webscript, and the least recently logged webscripts of a tenant, are dropped', () => {
    const log = new ScriptLog({ ofScript: 2_000, ofTenant: 5_000, inAll: 8_000 })
    const counts = (...scripts: readonly string[]) => scripts.map((script) => log.page(script, {}).values.length)
    const fill = (script: string) => {
      for (let n = 0; n < 20; n++) log.add(script, line('x'.repeat(100)))
    }
    fill('a/one')
    fill('a/two')
    expect(counts('a/one', 'a/two')).toEqual([10, 10])
    log.add('a/one', line('once more'))
    fill('a/three')
    // lines of other tenants are dropped only when all tenants have too many
    expect(counts('a/one', 'a/two', 'a/three')).toEqual([10, 0, 10])
    fill('b/one')
    fill('b/two')
    expect(counts('a/one', 'a/three', 'b/one', 'b/two')).toEqual([10, 10, 10, 10])
    fill('c/one')
    expect(counts('a/one', 'a/three', 'b/one', 'b/two', 'c/one')).toEqual([0, 10, 10, 10, 10])
  })

  it('is streamed after a line, without gaps or repetitions', async () => {
    const log = new ScriptLog()
    for (const message of ['1', '2', '3']) log.add('a', line(message))
    const over = new AbortController()
    const seen: string[] = []
    for await (const { message } of log.tail('a', { after: 1, signal: over.signal })) {
      seen.push(message)
      if (message === '3') log.add('a', line('4'))
      if (message === '4') over.abort()
    }
    expect(seen).toEqual(['2', '3', '4'])
  })
})
