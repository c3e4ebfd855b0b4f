/** Typed client of calendars over fetch, with the same contract. */
import { documentsClient, type Http, pathOf, typed } from '#services/shared/client'
import type { Calendar, CalendarsApi, CalendarVersion } from './contract.ts'

export function calendarsClient(http: Http): CalendarsApi {
  return {
    ...documentsClient<Calendar>(http, '/api/calendars', 'calendars'),
    versions: async (name) => {
      const answer = http.json('GET', pathOf`/api/calendars/${name}/versions`)
      return (await typed<{ readonly versions: readonly CalendarVersion[] }>(answer)).versions
    },
    state: (name, at) => typed(http.json('GET', pathOf`/api/calendars/${name}/state`, { query: { at } })),
  }
}
