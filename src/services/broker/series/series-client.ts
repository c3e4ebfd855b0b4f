/** Time series over fetch: the same contract, for tests and for other processes. */
import { AppError } from '#kernel'
import { type Http, pathOf, typed } from '#services/shared/client'
import type { SeriesAnswer, SeriesApi, SeriesQuery } from '../contract.ts'

/** Types of answers are those of the contract; the client does not check them again. */
export function seriesClient(http: Http): SeriesApi {
  return {
    get: async (resource, metric, query) => {
      const path = pathOf`/resources/${resource}/series/${metric}`
      const { next, ...answer } = await typed<LinkedAnswer>(http.json('GET', path, { query: { ...query } }))
      return { ...answer, ...(next !== undefined && { next: queryOf(next) }) }
    },
    raw: async (resource, metric, query) => {
      const path = pathOf`/resources/${resource}/series/${metric}/raw`
      const headers = { accept: 'application/hal+json' }
      const { _links, ...answer } = await typed<HalAnswer>(http.json('GET', path, { query: { ...query }, headers }))
      const href = _links.next?.href
      return { ...answer, ...(href !== undefined && { next: queryOf(href) }) }
    },
    latest: (resource, metric, query) => {
      return typed(http.json('GET', pathOf`/resources/${resource}/series/${metric}/last`, { query: { ...query } }))
    },
    list: async (resource) => {
      const path = pathOf`/resources/${resource}/series`
      const found = await typed<readonly ListedSeries[]>(http.json('GET', path, { query: { metadata: true } }))
      return found.map(({ name, latest: { timestamp, value } }) => ({ metric: name, time: timestamp, value }))
    },
    query: (body) => typed(http.json('POST', '/series/query', { body })),
    remove: async ({ resource, metrics, from, until, only }) => {
      const path = pathOf`/resources/${resource}`
      if (only === 'messages') {
        if (from !== undefined || until !== undefined || metrics !== undefined) throw allMessages()
        await http.json('DELETE', `${path}/messages`)
        return
      }
      const query = { from, until, metrics: metrics?.join(','), onlytimeseries: only === 'samples' ? true : undefined }
      await http.json('DELETE', path, { query })
    },
  }
}

interface LinkedAnswer extends SeriesAnswer {
  readonly next?: string
}

interface HalAnswer extends SeriesAnswer {
  readonly _links: { readonly next?: { readonly href: string } }
}

interface ListedSeries {
  readonly name: string
  readonly latest: { readonly timestamp: number; readonly value: unknown }
}

function queryOf(href: string): SeriesQuery {
  const parameters = Object.fromEntries(new URLSearchParams(href.slice(href.indexOf('?') + 1)))
  const whole = ['from', 'until', 'limit'].filter((name) => parameters[name] !== undefined)
  return { ...parameters, ...Object.fromEntries(whole.map((name) => [name, Number(parameters[name])])) }
}

function allMessages(): AppError {
  return new AppError(
    'VALIDATION',
    'over HTTP messages are removed alone only all at once; leave out range and metrics',
  )
}
