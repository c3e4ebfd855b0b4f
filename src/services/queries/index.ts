/** Queries, as a host puts them together. */
export { queriesErrorBody, queriesRoutes } from './api.ts'
export { QuerySlots } from './execution/query-slots.ts'
