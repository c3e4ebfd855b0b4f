/** Entry point of the host room for commands that start or inspect a host. Loads all services. */
export { ApiKeys, KEY_RECORDS, type KeyEntry } from './auth/api-keys.ts'
export { HOST_TENANT } from './auth/host-tenant.ts'
export { tellKeyChange } from './auth/key-changes.ts'
export { Tokens } from './auth/tokens.ts'
export { type RaisedPartitions, raisePartitions } from './cluster/raise-partitions.ts'
export { type ClusterPartitions, viewPartitions } from './cluster/view-partitions.ts'
export { type RunningHost, startHost, STOP_PATIENCE } from './running-host.ts'
export { SERVICES } from './wiring/service-table.ts'
