import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/index.js';
import { CatalogModule } from '../../../catalog/index.js';
import { KeysModule } from '../../../keys/index.js';
import { KeyPagesModule } from '../../keys/index.js';
import { OnboardingModule } from '../../../keys/onboarding/index.js';
import { UsageModule } from '../../../usage/index.js';
import { WalletModule } from '../../../wallet/index.js';
import { UserAllowancePages } from './user-allowance.pages.js';
import { UserBalancePages } from './user-balance.pages.js';
import { UserBelongingsController } from './user-belongings.controller.js';
import { UserChanges } from './user-changes.js';
import { UserChoices } from './user-choices.js';
import { UserController } from './user.controller.js';
import { UserDeletePages } from './user-delete.pages.js';
import { UserDirectory } from './user-directory.js';
import { UserFacts } from './user-facts.js';
import { UserKeyQuotaPages } from './user-key-quota.pages.js';
import { UserKeyPages } from './user-keys.pages.js';
import { UserListPages } from './user-list.pages.js';
import { UserLists } from './user-lists.js';
import { UserMoneyController } from './user-money.controller.js';
import { UserNewPages } from './user-new.pages.js';
import { UserSecondFactorPages } from './user-second-factor.pages.js';
import { UserPages } from './user.pages.js';
import { UsersController } from './users.controller.js';

@Module({
  imports: [AccessModule, CatalogModule, KeyPagesModule, KeysModule, OnboardingModule, UsageModule, WalletModule],
  controllers: [UsersController, UserController, UserMoneyController, UserBelongingsController],
  providers: [
    UserAllowancePages,
    UserBalancePages,
    UserChanges,
    UserChoices,
    UserDeletePages,
    UserDirectory,
    UserFacts,
    UserKeyPages,
    UserKeyQuotaPages,
    UserListPages,
    UserLists,
    UserNewPages,
    UserPages,
    UserSecondFactorPages,
  ],
})
export class UserPagesModule {}
