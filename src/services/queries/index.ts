/** Door of the query service for a host. */
export { queriesErrorBody, queriesRoutes } from './api.ts'
export { QuerySlots } from './execution/query-slots.ts'
