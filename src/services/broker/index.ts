/** Exports what a host needs to run the data broker. */
export { brokerErrorBody } from './error-body.ts'
export { INTRODUCTION, type Origin, type OtherHosts, type OtherListener } from './mqtt/other-hosts.ts'
export { nothing, projectEntry } from './posting/log-entry.ts'
export { brokerRoutes } from './api.ts'
export type { SessionKeys } from './kept/device-sessions.ts'
export { createBrokerService, type HostedBroker } from './service.ts'
