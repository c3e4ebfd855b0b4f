/** Model hosting, as a host puts it together. */
export { modelsRoutes } from './api.ts'
export type { OpenModel } from './driver.ts'
export { mainFileOf } from './frameworks.ts'
export { pythonDriver } from './python/python-driver.ts'
export { PythonRuntimes } from './python/python-runtimes.ts'
export { remoteDriver } from './remote/remote-driver.ts'
export { NOT_SENT, type RemoteTransport } from './remote/remote-server.ts'
export { createModelsService } from './service.ts'
