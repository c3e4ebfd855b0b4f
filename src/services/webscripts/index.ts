/** Webscripts, as a host puts them together. */
export { webscriptsRoutes } from './api.ts'
export { CALL_BASES } from './call-routes.ts'
export { createWebscriptsService } from './service.ts'
