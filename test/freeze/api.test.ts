/** The outside of the API as files, so that each change of it shows in a diff: the page, the routes, the metrics. */
import { afterAll, beforeAll, describe, it } from 'vitest'
import { JSON_TYPE, type Media } from '../host/api-story.ts'
import { printedRoutes } from '../host/printed-routes.ts'
import { digestOf, schemaLines } from './json-schema.ts'
import { refusalOf } from './refusal.ts'
import { expectFile, parametersOf, titleOf, UsedHost } from './used-host.ts'

let host: UsedHost
beforeAll(async () => {
  host = await UsedHost.open()
})
afterAll(() => host[Symbol.asyncDispose]())

describe('the API page', () => {
  const mediaOf = (content: Readonly<Record<string, Media>> = {}) =>
    Object.entries(content).map(([type, { schema = {} }]) => `${type}:${digestOf(host.schemaOf(schema))}`)

  it('has the operations of the file', async () => {
    const lines = host.operations.map((operation) => {
      const { operationId, requestBody, responses } = operation
      const asked = parametersOf(operation).map(
        ({ name, in: place, required, schema }) =>
          `${place}:${name}${required ? '' : '?'}=${[...schemaLines(schema)].join(' ').slice(2)}`,
      )
      const body = requestBody === undefined ? [] : [`takes ${mediaOf(requestBody.content).join(' ')}`]
      const answers = Object.entries(responses).map(([status, { content }]) => [status, ...mediaOf(content)].join(' '))
      return `${titleOf(operation)} ${operationId} | ${[...asked, ...body, ...answers].join(' | ')}`
    })
    await expectFile('operations', lines.toSorted())
  })

  it('has the schemas of the file', async () => {
    const named = Object.entries(host.schemas)
    const firsts = new Map<string, string>()
    const lines = named.flatMap(([name, schema]) => {
      const digest = digestOf(schema)
      const first = firsts.get(digest)
      if (first !== undefined) return [`${name} as ${first}`]
      firsts.set(digest, name)
      return [`${name} ${digest}`, ...schemaLines(schema)]
    })
    await expectFile('schemas', lines)
  })
})

describe('every route', () => {
  it('is open, strict and on the page as the file says', async () => {
    const onPage = new Set(host.operations.map((one) => titleOf(one).replaceAll(/\{(\w+|\*)\}/g, 'one')))
    const lines: string[] = []
    for (const { method, url } of printedRoutes(host.app)) {
      const stranger = await host.app.inject({ method, url })
      const payload = method === 'GET' || method === 'DELETE' ? {} : { payload: '{}' }
      const headers = { prefer: 'handling=strict', ...('payload' in payload && { 'content-type': JSON_TYPE }) }
      const strict = await host.ask({ method, url: `${url}?zzz=1`, headers, ...payload })
      const page = onPage.has(`${method} ${url}`) ? [] : ['not on the page']
      const answers = [`${stranger.statusCode} to strangers`, `${refusalOf(strict)} to ?zzz`]
      lines.push(`${method} ${url}: ${[...answers, ...page].join(', ')}`)
    }
    await expectFile('routes', lines.toSorted())
  })
})

/** metrics whose label `status` has few values */
const WITH_STATUS = new Set(['reflexarc_tasks', 'reflexarc_deliveries_total'])

describe('the metrics', () => {
  it('have the names, types and labels of the file', async () => {
    const { body } = await host.app.inject('/metrics')
    const labels = new Map<string, Set<string>>()
    for (const [, name = '', inside = ''] of body.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm))
      for (const [, label = '', value = ''] of inside.matchAll(/(\w+)="([^"]*)"/g)) {
        const isFixed = !['method', 'route', 'status', 'le'].includes(label) || WITH_STATUS.has(name)
        labels.set(name, (labels.get(name) ?? new Set()).add(isFixed ? `${label}=${value}` : label))
      }
    const lines = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => {
      const series = labels.get(type === 'histogram' ? `${name}_bucket` : name)
      return [name, type, ...[...(series ?? [])].toSorted()].join(' ')
    })
    await expectFile('metrics', lines.toSorted())
  })
})
