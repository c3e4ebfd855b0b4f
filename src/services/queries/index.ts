/** Queries, as a host puts them together. */
export { queriesErrorBody } from './error-body.ts'
export { queriesRoutes } from './routes.ts'
