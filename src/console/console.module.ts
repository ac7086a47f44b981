import { Module } from '@nestjs/common';
import { AccountPagesModule } from './account/index.js';
import { AdminModule } from './admin/index.js';
import { HomeModule } from './home/index.js';
import { KeyPagesModule } from './keys/index.js';
import { OrganizationPagesModule } from './organizations/index.js';
import { PlaygroundModule } from './playground/index.js';
import { RegistrationPagesModule } from './registration/index.js';
import { SearchModule } from './search/index.js';
import { UsagePagesModule } from './usage/index.js';
import { WalletPagesModule } from './wallet/index.js';

@Module({
  imports: [
    AccountPagesModule,
    RegistrationPagesModule,
    UsagePagesModule,
    WalletPagesModule,
    KeyPagesModule,
    OrganizationPagesModule,
    PlaygroundModule,
    HomeModule,
    SearchModule,
    AdminModule,
  ],
})
export class ConsoleModule {}
