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
import type { AlarmsApi, AlarmType } from './contract.ts'

export function alarmsClient(http: Http): AlarmsApi {
  return {
    raise: (body, { history, onRepeat } = {}) =>
      typed(http.json('POST', '/alarm/alarms', { body, query: { history, onRepeat } })),
    acknowledge: (id, body = {}) => typed(http.json('POST', pathOf`/alarm/alarms/${id}/acknowledge`, { body })),
    shelve: (id, body) => typed(http.json('POST', pathOf`/alarm/alarms/${id}/shelve`, { body })),
    unshelve: (id, body = {}) => typed(http.json('POST', pathOf`/alarm/alarms/${id}/unshelve`, { body })),
    comment: (id, body) => typed(http.json('POST', pathOf`/alarm/alarms/${id}/comments`, { body })),
    comments: (id) => typed(http.json('GET', pathOf`/alarm/alarms/${id}/comments`)),
    counts: (query) => typed(http.json('GET', '/alarm/counts', { query })),
    figures: (query) => typed(http.json('GET', '/alarm/figures', { query })),
    groups: (query) => typed(http.json('GET', '/alarm/groups', { query })),
    types: {
      list: async () => (await typed<{ types: readonly AlarmType[] }>(http.json('GET', '/alarm/types'))).types,
      get: (type) => typed(http.json('GET', pathOf`/alarm/types/${type}`)),
      put: (type, body, { ifRevision } = {}) =>
        typed(http.json('PUT', pathOf`/alarm/types/${type}`, { body, ...conditionOf(ifRevision) })),
      remove: async (type, { ifRevision } = {}) => {
        await http.json('DELETE', pathOf`/alarm/types/${type}`, conditionOf(ifRevision))
      },
    },
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
    events: async function* ({ signal, after, where = {} }) {
      const headers = { accept: EVENTS_MEDIA_TYPE, ...(after !== undefined && { 'last-event-id': after }) }
      try {
        const answer = await http.open('GET', '/alarm/events', { headers, signal, query: where })
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
