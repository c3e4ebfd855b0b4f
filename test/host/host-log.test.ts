import { describe, expect, it } from 'vitest'
import { fastify } from 'fastify'
import { HostLog } from '../../src/host/host-log.ts'
import { logOptions } from '../../src/host/log.ts'

function serverLog() {
  const lines: Record<string, unknown>[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) }
  return { lines, app: fastify({ logger: logOptions('warn', stream) }) }
}

describe('what services log', () => {
  it('goes to the log of the server, with its level and without secrets', () => {
    const { lines, app } = serverLog()
    const log = new HostLog()
    log.goTo(app.log)
    log.warn('slow', { ms: 5, secret: 's3cret' })
    log.error('lost')
    expect(lines).toMatchObject([
      { level: 40, msg: 'slow', ms: 5, secret: '[hidden]' },
      { level: 50, msg: 'lost' },
    ])
  })

  it('waits for the server when there is none yet, the first hundred lines of it', () => {
    const { lines, app } = serverLog()
    const log = new HostLog()
    for (let i = 0; i < 150; i++) log.warn(`line ${i}`)
    log.goTo(app.log)
    log.error('now')
    expect(lines).toHaveLength(101)
    expect([lines[0]?.['msg'], lines.at(-1)?.['msg']]).toEqual(['line 0', 'now'])
  })
})
