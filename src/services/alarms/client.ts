/** A typed client of the alarms service over fetch, with the same contract. */
import {
  conditionOf,
  EVENTS_MEDIA_TYPE,
  type Http,
  pathOf,
  serverEvents,
  TIMELINE_MEDIA_TYPE,
  typed,
} from '#services/shared/client'
import type { QueuedAlarmBatch } from './alarm-schema.ts'
import type { AlarmsApi } from './contract.ts'

export function alarmsClient(http: Http): AlarmsApi {
  return {
    raise: (body, { history } = {}) => typed(http.json('POST', '/alarm/alarms', { body, query: { history } })),
    get: (id) => typed(http.json('GET', pathOf`/alarm/alarms/${id}`)),
    update: (id, body, { ifRevision } = {}) =>
      typed(http.json('PUT', pathOf`/alarm/alarms/${id}`, { body, ...conditionOf(ifRevision) })),
    remove: (id, { ifRevision } = {}) =>
      typed(http.json('DELETE', pathOf`/alarm/alarms/${id}`, conditionOf(ifRevision))),
    list: async (query) => {
      const page = await typed<Pick<Awaited<ReturnType<AlarmsApi['list']>>, 'total' | 'alarms'>>(
        http.json('GET', '/alarm/alarms', { query }),
      )
      return {
        total: page.total,
        page: Number(query['page'] ?? 1),
        size: Number(query['size'] ?? 50),
        alarms: page.alarms,
      }
    },
    timeline: (query) => {
      return typed(http.json('GET', '/alarm/alarms', { query, headers: { accept: TIMELINE_MEDIA_TYPE } }))
    },
    why: (id) => typed(http.json('GET', pathOf`/alarm/alarms/${id}/why`)),
    events: async function* ({ signal, after }) {
      const headers = { accept: EVENTS_MEDIA_TYPE, ...(after !== undefined && { 'last-event-id': after }) }
      try {
        const answer = await http.open('GET', '/alarm/events', { headers, signal })
        for await (const { id = '', data } of serverEvents(answer)) yield { id, text: JSON.stringify(data) }
      } catch (error) {
        if (!signal.aborted) throw error
      }
    },
    batches: {
      queue: async (body) => {
        const { entity } = await typed<{ entity: QueuedAlarmBatch }>(http.json('POST', '/batch', { body }))
        return entity
      },
      get: (id) => typed(http.json('GET', pathOf`/batch/${id}`)),
    },
  }
}
