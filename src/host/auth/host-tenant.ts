/** Tenant of the host's own records, outside the names of tenants. */
export const HOST_TENANT = '_host'
