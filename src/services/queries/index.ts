/** Everything a host needs to offer queries. */
export { queriesErrorBody, queriesRoutes } from './api.ts'
export { QuerySlots } from './execution/query-slots.ts'
