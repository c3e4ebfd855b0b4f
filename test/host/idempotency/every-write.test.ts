/** Tests that every writing route stores its answers for `Idempotency-Key`, except the listed routes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OWN_KEYS, READS } from '../../../src/host/idempotency/keep-answers.ts'
import { type Answer, ApiStory, type Ask, type Operation, type StoryHost, storyHost } from '../api-story.ts'
import { printedRoutes } from '../printed-routes.ts'

let host: StoryHost
const exempt = new Set([...OWN_KEYS, ...READS].map((url) => url.replaceAll(/:\w+/g, 'one')))
const plain = ({ path }: Operation) => path.replaceAll(/\{(\w+|\*)\}/g, 'one')
/** Answers of public routes, which have no caller */
const PUBLIC = 'postAuthV1Session'
const isExempt = (one: Operation) => one.operationId === PUBLIC || (one.method === 'post' && exempt.has(plain(one)))
/** Answers that are streams, or too large to be stored */
const STREAMED = /Publish$|patchTasks|patchTemplates|deleteTasks|postTemplates?(?:Run|Debug)/

beforeAll(async () => {
  host = await storyHost()
})
afterAll(() => host.app.close())

describe('every route that writes', () => {
  it('that is named as one that does not keep answers is there', () => {
    const routes = new Set(printedRoutes(host.app).map(({ method, url }) => `${method} ${url}`))
    expect([...exempt].filter((url) => !routes.has(`POST ${url}`))).toEqual([])
  })

  it('answers the same request again with the first answer', async () => {
    const twice: (readonly [Answer, Answer])[] = []
    let number = 0
    const ask: Ask = async (asked) => {
      if ((asked.method ?? 'GET') === 'GET') return host.ask(asked)
      const headers = { ...asked.headers, 'idempotency-key': `key ${number++}` }
      const first = await host.ask({ ...asked, headers })
      twice.push([first, await host.ask({ ...asked, headers })])
      return first
    }
    const story = new ApiStory(ask)
    await story.prepare()
    const odd: string[] = []
    const check = (one: Operation) => {
      const [first, second] = twice.at(-1) ?? []
      if (first === undefined || second === undefined || first.statusCode >= 400) return
      const isReplay = second.headers['idempotent-replay'] === 'true'
      if (isExempt(one) !== isReplay) return
      if (!isExempt(one) && isReplay && second.statusCode === first.statusCode) return
      if (STREAMED.test(one.operationId) && second.statusCode === 409) return
      odd.push(`${one.operationId} ${first.statusCode} ${second.statusCode} ${isReplay} ${second.body.slice(0, 200)}`)
    }
    for await (const [operation] of story.tell(host.operations)) check(operation)
    for (const operation of host.operations.filter(({ method }) => method === 'delete')) {
      await ask({ method: 'DELETE', url: story.urlOf(operation) })
      check(operation)
    }
    expect(odd).toEqual([])
    const replayed = twice.filter(([, second]) => second.headers['idempotent-replay'] === 'true')
    expect(replayed.length).toBeGreaterThan(70)
  })
})
