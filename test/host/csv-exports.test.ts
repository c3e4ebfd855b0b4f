/**
 * Tests that no service writes text to CSV that a spreadsheet would read as a formula; for CSV that is read back, only
 * on request.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../support/until.ts'
import { basic } from './sample-host.ts'
import { wholeHost, type WholeHost } from './whole-host.ts'

const FORMULAS = ['=1+1', '+1', '-1', '@sum']
const SAFE = FORMULAS.map((text) => `'${text}`)

let host: WholeHost
beforeAll(async () => {
  host = await wholeHost()
  for (const [i, text] of FORMULAS.entries()) {
    await host.send('POST', '/resources/boiler/events', { text, number: -1 - i })
    await host.send('POST', '/api/resources', { id: `r${i}`, note: text })
  }
})
afterAll(() => host[Symbol.asyncDispose]())

const QUERY = {
  resource: 'boiler',
  data: [{ metric: 'text' }, { metric: 'number' }],
  from: 0,
  until: '2100-01-01T00:00:00Z',
}

/** Returns one cell of each row, without the header. */
function cellsOf(csv: string, at: number): readonly string[] {
  return csv
    .trim()
    .split(/\r?\n/)
    .slice(1)
    .map((row) => row.split(',')[at] ?? '')
}

async function queried(parameters: string): Promise<string> {
  const headers = { authorization: basic('acme', 's'), accept: 'text/csv' }
  const url = `/data/query${parameters}`
  return (await host.app.inject({ method: 'POST', url, headers, payload: QUERY })).body
}

async function exported(request: object): Promise<string> {
  const begun = await host.ask('POST', '/storage/v1/export', request)
  expect(begun.status).toBe(202)
  const url = `/storage/v1/export/${String(begun.body['id'])}`
  await until(async () => !['waiting', 'running'].includes(String((await host.ask('GET', url)).body['state'])))
  const { body } = await host.ask('GET', url)
  expect(body).toMatchObject({ state: 'completed' })
  const { body: found } = await host.ask('GET', `/storage/v1/bucket/etl-export/${String(body['object'])}?sign=GET`)
  const { href } = (found as { _links: { get_object: { href: string } } })._links.get_object
  const { pathname, search, hostname } = new URL(href)
  return (await host.app.inject({ url: `${pathname}${search}`, headers: { host: hostname } })).body
}

describe('CSV', () => {
  it('of a query has texts as they are, and safe ones on request', async () => {
    expect(cellsOf(await queried(''), 1)).toEqual(FORMULAS)
    const safe = await queried('?csv=safe')
    expect([cellsOf(safe, 1), cellsOf(safe, 2)]).toEqual([SAFE, ['-1', '-2', '-3', '-4']])
    expect(await queried('?csv=other')).toContain('csv')
  })

  it.each([
    ['a query', { query: QUERY }, 1],
    ['a history', { resource: 'boiler', metrics: ['text', 'number'] }, 2],
  ])('of an export of %s is the same', async (_what, request, at) => {
    expect(cellsOf(await exported(request), at)).toEqual(FORMULAS)
    const safe = await exported({ ...request, csv: 'safe' })
    expect([cellsOf(safe, at), cellsOf(safe, at + 1)]).toEqual([SAFE, ['-1', '-2', '-3', '-4']])
    const wrong = await host.ask('POST', '/storage/v1/export', { ...request, csv: 'yes' })
    expect([wrong.status, JSON.stringify(wrong.body)]).toEqual([422, expect.stringContaining('write safe')])
  })

  it('of resources is always safe', async () => {
    const headers = { authorization: basic('acme', 's'), accept: 'text/csv' }
    const { body } = await host.app.inject({ url: '/api/resources?fields=id,note&sort=id', headers })
    expect(cellsOf(body, 1).filter((cell) => cell !== '')).toEqual(SAFE)
  })
})
