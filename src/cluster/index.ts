/** Places tenants on the hosts of a cluster. */
export { checkReplay } from './placement/check-replay.ts'
export { HOST_RECORDS, SLOT_TABLE, SLOT_TABLES } from './placement/cluster-records.ts'
export { type ClusterView, type HostView, orderDrain, viewCluster } from './placement/cluster-view.ts'
export { OpenTenants } from './placement/open-tenants.ts'
export { type TenantLocation, Placement, TTL_MS } from './placement/placement.ts'
export { type Program, REPLAY_NUMBER } from './placement/replay-number.ts'
export { slotOf } from './placement/slots.ts'
