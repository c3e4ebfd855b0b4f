/** Everything a host needs to offer connectors. */
export { connectorRoutes } from './api.ts'
export { CONNECTORS } from './load-connectors.ts'
export { TenantConnectors } from './service.ts'
