/** Webscripts, as a host puts them together. */
export { webscriptsRoutes } from './routes.ts'
export { CALL_BASES } from './routes/routing.ts'
export { createWebscriptsService } from './service.ts'
