/**
 * Sends the same write many times at once, to every writing route: no response may reveal how the store detected the
 * conflict.
 */
import { packTar } from 'modern-tar'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { JSON_TYPE, type Answer, type Ask, storyHost, type StoryHost } from './api-story.ts'
import { cases } from '../support/arbitraries/runs.ts'
import { testFolder } from '../support/test-folder.ts'

const MANY = cases(20)
/** Messages of the store about unexpected versions. */
const INTERNAL = /is (?:not )?there in|was expected|should not be there|read again, then write|at the same time, again/

const data = testFolder()
let host: StoryHost
const ask: Ask = (asked) => host.ask(asked)
const atOnce = (one: (place: number) => Promise<Answer>): Promise<readonly Answer[]> =>
  Promise.all(Array.from({ length: MANY }, (_, place) => one(place)))

beforeAll(async () => {
  host = await storyHost({ data })
  await host.story.whole(host.operations)
})
afterAll(async () => {
  await host.app.close()
})

/** Returns the responses that reveal internals. */
const toldOf = (who: string, answers: readonly Answer[]): readonly string[] =>
  answers.flatMap(({ statusCode, body }) => (statusCode >= 400 && INTERNAL.test(body) ? [`${who} ${body}`] : []))

describe('concurrent equal writes', () => {
  it('are executed one after the other by every route with an example', async () => {
    const told: string[] = []
    let count = 0
    for (const operation of host.operations) {
      const example = operation.requestBody?.content[JSON_TYPE]?.example
      if (example === undefined || operation.method === 'get') continue
      count++
      const asked = { method: operation.method.toUpperCase(), url: host.story.urlOf(operation) }
      const headers = { 'content-type': JSON_TYPE }
      const answers = await atOnce(() => ask({ ...asked, headers, payload: JSON.stringify(example) }))
      told.push(...toldOf(operation.operationId, answers))
    }
    expect(count).toBeGreaterThan(75)
    expect(told).toEqual([])
  })

  it('are executed for different versions of a webscript, and for publishing during a rebuild', async () => {
    const answers = await atOnce((place) => uploadScript('many', `1.${place}.0`))
    expect(answers.map(({ statusCode, body }) => (statusCode < 300 ? '' : body))).toEqual(answers.map(() => ''))
    await uploadScript('mixed', '1.0.0', '&draft=true')
    const url = '/registry/v2/webscripts/mixed/versions/1.0.0'
    const both = await atOnce((place) =>
      ask({ method: 'POST', url: `${url}/${place % 2 === 0 ? 'rebuild' : 'publish'}?async=true` }),
    )
    expect(toldOf('mixed', both)).toEqual([])
    expect(both.filter(({ statusCode }) => statusCode < 300).length).toBeGreaterThan(1)
  })

  it('are executed by every route that deletes', async () => {
    const told: string[] = []
    const deleting = host.operations.filter(({ method }) => method === 'delete')
    expect(deleting.length).toBeGreaterThan(20)
    for (const operation of deleting)
      told.push(
        ...toldOf(
          operation.operationId,
          await atOnce(() => ask({ method: 'DELETE', url: host.story.urlOf(operation) })),
        ),
      )
    expect(told).toEqual([])
  })
})

async function uploadScript(name: string, version: string, query = ''): Promise<Answer> {
  const files = {
    'webscript.json': JSON.stringify({ name, version, runtime: 'web-node24' }),
    'index.js': 'exports.handleRequest = (req, res) => res.send("x")',
  }
  const entries = Object.entries(files).map(([path, body]) => ({ header: { name: path, size: body.length }, body }))
  return ask({
    method: 'POST',
    url: `/registry/v2/webscripts?deploy=false${query}`,
    headers: { 'content-type': 'application/x-tar' },
    payload: Buffer.from(await packTar(entries)),
  })
}
