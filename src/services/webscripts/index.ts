/** Everything a host needs to offer webscripts. */
export { webscriptsRoutes } from './api.ts'
export { CALL_BASES } from './call-routes.ts'
export { ScriptLog } from './script-log.ts'
export { createWebscriptsService } from './service.ts'
