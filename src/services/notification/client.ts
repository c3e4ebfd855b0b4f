/** Typed client of notification over fetch, with the same contract. */
import { documentsClient, type Http, pathOf, typed } from '#services/shared/client'
import type { Contact, NotificationApi, Policy } from './contract.ts'

export function notificationClient(http: Http): NotificationApi {
  return {
    contacts: {
      ...documentsClient<Contact>(http, '/alarm/contacts', 'contacts'),
      test: (name) => typed(http.json('POST', pathOf`/alarm/contacts/${name}/test`)),
    },
    policies: documentsClient<Policy>(http, '/alarm/policies', 'policies'),
    notifications: {
      list: (query = {}) => typed(http.json('GET', '/alarm/notifications', { query: { ...query } })),
      get: (id) => typed(http.json('GET', pathOf`/alarm/notifications/${id}`)),
    },
    onCall: (query = {}) => typed(http.json('GET', '/alarm/on-call', { query })),
  }
}
